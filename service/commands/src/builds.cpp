#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/reader_command.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::commands {
namespace {

namespace fs = std::filesystem;
using storage::BuildRow;

/// A file in a tree of the cache: the tree is not evicted.
constexpr const char* kPinned = "pinned";

std::string files_text(const BuildRow& row) {
  std::error_code error;
  if (row.folder.empty()) return "";
  if (!fs::exists(row.folder, error)) return "gone";
  return fs::exists(fs::path(row.folder) / kPinned, error) ? "pinned" : "there";
}

std::string remark_on(const BuildRow& row) {
  if (!row.reason.empty()) return row.reason;
  return row.unusable.empty() ? row.folder : row.unusable;
}

Outcome run_list(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::BuildStore(*database).list());
  Items items{terminal::Table({{"origin"},
                               {"name"},
                               {"version", terminal::Table::Align::left, 1},
                               {"trunk commit", terminal::Table::Align::left, 2},
                               {"state"},
                               {"files"},
                               {"folder, or what is wrong", terminal::Table::Align::left, 3}})};
  for (const auto& row : rows) {
    const bool is_commit = row.origin == storage::BuildOrigin::commit;
    items.table.add({std::string(to_string(row.origin)),
                     is_commit ? row.name.substr(0, 12) : row.name, row.version,
                     row.trunk_commit.substr(0, 12), std::string(to_string(row.state)),
                     files_text(row), remark_on(row)});
    items.json.push_back({{"id", row.id},
                          {"origin", std::string(to_string(row.origin))},
                          {"name", row.name},
                          {"version", row.version},
                          {"embedded_commit", row.embedded_commit},
                          {"trunk_commit", row.trunk_commit},
                          {"content_hash", row.content_hash},
                          {"state", std::string(to_string(row.state))},
                          {"reason", row.reason},
                          {"unusable", row.unusable},
                          {"files", files_text(row)},
                          {"folder", row.folder}});
  }
  print(invocation, items, "No build is known yet: `torchwatch build fetch 2.13.0` gets one.");
  return ExitStatus::done;
}

Outcome run_fetch(const Invocation& invocation, const std::string& name) {
  TW_TRY(auto opened, open_for_reading(invocation));
  TW_TRY_VOID(reserve_disk(opened));
  TW_TRY(const auto row, daemon::resolve_build(*opened.application, name, invocation.stop));
  if (invocation.json) {
    invocation.out << nlohmann::json{{"schema", 1},
                                     {"name", row.name},
                                     {"version", row.version},
                                     {"folder", row.folder}}
                          .dump(2)
                   << '\n';
  } else {
    invocation.out << row.name << " is at " << row.folder << '\n';
  }
  return ExitStatus::done;
}

/// A known build whose files the service itself has made or fetched.
Result<BuildRow> build_in_cache(storage::Database& database, const config::Config& config,
                                const std::string& name) {
  TW_TRY(const auto row, daemon::known_build(database, name));
  if (!row) {
    return fail(ErrorCode::not_found,
                "no files of a build \"" + name + "\": `torchwatch build list` has the known ones");
  }
  const auto cache = fs::weakly_canonical(config.build.cache);
  const auto below = fs::weakly_canonical(row->folder).lexically_relative(cache);
  if (!below.empty() && *below.begin() != "..") return *row;
  return fail(ErrorCode::invalid, row->folder + " is not in [build] cache (" + cache.string() +
                                      "): torchwatch does not touch it");
}

/// Errors: conflict, when work that has not ended may need the build.
Status require_unused(storage::Database& database, const BuildRow& build) {
  TW_TRY(const auto comparisons, storage::ComparisonStore(database).unfinished());
  for (const auto& row : comparisons) {
    if (row.candidate != build.id && row.baseline != build.id) continue;
    return fail(ErrorCode::conflict,
                "comparison " + std::to_string(row.id) + " needs it: end or cancel that first");
  }
  TW_TRY(const auto bisections, storage::BisectionStore(database).unfinished());
  if (bisections.empty()) return {};
  return fail(ErrorCode::conflict, "bisection " + std::to_string(bisections.front().id) +
                                       " may need it: end or cancel that first");
}

Outcome run_remove(const Invocation& invocation, const std::string& name) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto row, build_in_cache(*database, config, name));
  TW_TRY_VOID(require_unused(*database, row));
  // Renamed first, so that nobody sees it half removed under its name.
  const fs::path removed = row.folder + ".removed";
  std::error_code error;
  fs::rename(row.folder, removed, error);
  if (!error) fs::remove_all(removed, error);
  if (error) {
    return fail(ErrorCode::unavailable, "cannot remove " + row.folder + ": " + error.message());
  }
  invocation.out << "removed " << row.folder << '\n';
  return ExitStatus::done;
}

Outcome run_pin(const Invocation& invocation, const std::string& name, bool release) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto row, build_in_cache(*database, config, name));
  const auto mark = fs::path(row.folder) / kPinned;
  if (release) {
    std::error_code error;
    fs::remove(mark, error);
    if (error) {
      return fail(ErrorCode::unavailable,
                  "cannot remove " + mark.string() + ": " + error.message());
    }
  } else {
    TW_TRY_VOID(platform::publish_file(mark, ""));
  }
  invocation.out << row.folder << (release ? " may be evicted again\n" : " is kept\n");
  return ExitStatus::done;
}

}  // namespace

void add_builds(Commands& all) {
  Noun noun(all, "build", "LibTorch builds: list, fetch, remove, pin");
  noun.add("list", "The builds that are known, and where they lie", run_list);
  const auto name = std::make_shared<std::string>();
  const auto add = [&](const std::string& verb, const std::string& what, Action action,
                       const std::string& which) -> CLI::App& {
    auto& command = noun.add(verb, what, std::move(action));
    command.add_option("BUILD", *name, which)->required();
    command.footer("torchwatch build " + verb + " 2.13.0");
    return command;
  };
  add(
      "fetch", "Bring a build here, or build a commit",
      [name](const auto& invocation) { return run_fetch(invocation, *name); },
      "A name in the channel, a release of PyTorch, or a commit");
  add(
      "remove", "Remove the files of a build from the cache; what was measured stays",
      [name](const auto& invocation) { return run_remove(invocation, *name); },
      "As `torchwatch build list` lists it");
  const auto release = std::make_shared<bool>(false);
  add(
      "pin", "Keep the files of a build in the cache, whatever its limit",
      [name, release](const auto& invocation) { return run_pin(invocation, *name, *release); },
      "As `torchwatch build list` lists it")
      .add_flag("--release", *release, "Let it be evicted again");
}

}  // namespace torchwatch::commands
