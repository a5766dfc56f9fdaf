#include <nlohmann/json.hpp>

#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/reader_command.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::commands {
namespace {

Outcome run_list(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::BuildStore(*database).list());
  Items items{terminal::Table(
      {{"origin"}, {"name"}, {"version"}, {"trunk commit"}, {"state"}, {"folder"}})};
  for (const auto& row : rows) {
    const bool is_commit = row.origin == storage::BuildOrigin::commit;
    items.table.add({std::string(to_string(row.origin)), is_commit ? row.name.substr(0, 12) : row.name,
               row.version, row.trunk_commit.substr(0, 12), std::string(to_string(row.state)),
               row.reason.empty() ? row.folder : row.reason});
    items.json.push_back({{"origin", std::string(to_string(row.origin))},
                     {"name", row.name},
                     {"version", row.version},
                     {"embedded_commit", row.embedded_commit},
                     {"trunk_commit", row.trunk_commit},
                     {"content_hash", row.content_hash},
                     {"state", std::string(to_string(row.state))},
                     {"reason", row.reason},
                     {"folder", row.folder}});
  }
  print(invocation, items, "No build is known yet: `torchwatch build fetch` gets one.");
  return ExitStatus::done;
}

}  // namespace

void add_builds(Commands& all) {
  Noun noun(all, "build", "LibTorch builds: list");
  noun.add("list", "The builds that are known, and where they lie", run_list);
}

}  // namespace torchwatch::commands
