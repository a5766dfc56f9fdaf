#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/caches/build_files.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/names.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::commands {
namespace {

using report::text_or_null;
using storage::BuildRow;

std::string remark_on(const BuildRow& row) {
  if (!row.reason.empty()) return row.reason;
  return row.unusable.empty() ? row.folder : row.unusable;
}

std::string_view state_word(const BuildRow& row) {
  return row.unusable.empty() ? to_string(row.state) : "unusable";
}

struct ListOptions {
  std::string state;
  std::string origin;
};

Outcome run_list(const Invocation& invocation, const ListOptions& options) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(auto rows, storage::BuildStore(*database).list());
  std::erase_if(rows, [&](const BuildRow& row) {
    return !admits(options.state, to_string(row.state), state_word(row)) ||
           !admits(options.origin, to_string(row.origin));
  });
  using Fit = terminal::Table::Fit;
  Items items{terminal::Table({{.heading = "origin", .fit = Fit::whole},
                               {"name"},
                               {.heading = "version", .rank = 1},
                               {.heading = "trunk commit", .rank = 2, .fit = Fit::whole},
                               {.heading = "state", .fit = Fit::whole},
                               {.heading = "files", .fit = Fit::whole},
                               {.heading = "folder, or what is wrong", .fit = Fit::wrap}})};
  const auto ask = [&](const BuildRow& row) { return caches::files_of(row, config); };
  TW_TRY(const auto files, report::files_of(*database, ask, rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const bool is_commit = row.origin == storage::BuildOrigin::commit;
    items.table.add({std::string(to_string(row.origin)), is_commit ? short_sha(row.name) : row.name,
                     row.version, short_sha(row.trunk_commit), std::string(state_word(row)),
                     std::string(word_of(files[i])), remark_on(row)});
    auto& entry = items.json.emplace_back(report::json_of(row, files[i]));
    entry["folder"] = text_or_null(row.folder);
  }
  const bool is_narrowed = !options.state.empty() || !options.origin.empty();
  print(invocation, items,
        is_narrowed ? "No such build."
                    : "No build is known yet: `torchwatch build fetch 2.13.0` gets one.");
  return ExitStatus::done;
}

Outcome run_fetch(const Invocation& invocation, const std::string& name) {
  TW_TRY(auto config, invocation.load_config());
  TW_TRY(auto opened, open_beside(invocation, std::move(config), daemon::Access::read));
  TW_TRY_VOID(reserve_disk(opened));
  TW_TRY(const auto row, daemon::resolve_build(*opened.application, name, invocation.stop));
  if (invocation.json) {
    print_json(invocation, nlohmann::json{{"schema", 1},
                                          {"name", row.name},
                                          {"version", text_or_null(row.version)},
                                          {"folder", row.folder}});
  } else {
    invocation.out << row.name << " is at " << row.folder << '\n';
  }
  return ExitStatus::done;
}

Result<BuildRow> build_with_files(storage::Database& database, const std::string& name) {
  TW_TRY(const auto row, requests::known_build(database, name));
  if (row) return *row;
  return fail(ErrorCode::not_found,
              "no files of a build \"" + name + "\": `torchwatch build list` has the known ones");
}

/// What cannot be done with the files of a build is the asker's mistake, not the machine's.
template <typename T>
T as_wrong_use(T done) {
  if (done || done.error().code != ErrorCode::conflict) return done;
  return fail(done.error().as(ErrorCode::invalid));
}

Outcome run_remove(const Invocation& invocation, const std::string& name) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto row, build_with_files(*database, name));
  TW_TRY_VOID(as_wrong_use(caches::remove_files(*database, config, row)));
  return report_done(invocation,
                     {.kind = "build", .item = row.name, .message = "removed " + row.folder});
}

Outcome run_pin(const Invocation& invocation, const std::string& name, bool release) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto row, build_with_files(*database, name));
  TW_TRY(const bool lies_in_cache, as_wrong_use(caches::pin(row, config, !release)));
  std::string what = release ? "may be removed again when the cache is full"
                             : "is kept, whatever [build] cache_limit says";
  if (!lies_in_cache) {
    what = "is kept anyway: it is not in [build] cache, and torchwatch removes nothing else";
  }
  return report_done(invocation,
                     {.kind = "build", .item = row.name, .message = row.folder + " " + what});
}

}  // namespace

void add_builds(Commands& all) {
  Noun noun(all, "build", "LibTorch builds: list, fetch, remove, pin");
  const auto narrowed = std::make_shared<ListOptions>();
  auto& list =
      noun.add("list", "The builds that are known, and where they lie",
               [narrowed](const auto& invocation) { return run_list(invocation, *narrowed); });
  add_filter<storage::BuildState>(list, "state", narrowed->state, {"unusable"});
  add_filter<storage::BuildOrigin>(list, "origin", narrowed->origin);
  const auto name = std::make_shared<std::string>();
  const auto add = [&](const std::string& verb, const std::string& what, Action action,
                       const std::string& which) -> CLI::App& {
    auto& command = noun.add(verb, what, std::move(action));
    command.add_option("BUILD", *name, which)->required();
    command.footer("torchwatch build " + verb + " 2.13.0");
    return command;
  };
  add(
      "fetch", "Bring a build here: fetch what is published, or build a commit",
      [name](const auto& invocation) { return run_fetch(invocation, *name); },
      "A name in the channel, a release of PyTorch, or a commit");
  add(
      "remove", "Remove the files of a build from the cache; what was measured stays",
      [name](const auto& invocation) { return run_remove(invocation, *name); },
      "Its name, as `torchwatch build list` lists it");
  const auto release = std::make_shared<bool>(false);
  add(
      "pin", "Keep the files of a build in the cache, whatever its limit",
      [name, release](const auto& invocation) { return run_pin(invocation, *name, *release); },
      "Its name, as `torchwatch build list` lists it")
      .add_flag("--release", *release,
                "Undo that: the files may be removed again when the cache is full");
}

}  // namespace torchwatch::commands
