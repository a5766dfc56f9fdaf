#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/reader_command.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::commands {
namespace {

Outcome run_builds(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::BuildStore(*database).list());
  terminal::Table table(
      {{"origin"}, {"name"}, {"version"}, {"trunk commit"}, {"state"}, {"folder"}});
  auto array = nlohmann::json::array();
  for (const auto& row : rows) {
    const bool is_commit = row.origin == storage::BuildOrigin::commit;
    table.add({std::string(to_string(row.origin)), is_commit ? row.name.substr(0, 12) : row.name,
               row.version, row.trunk_commit.substr(0, 12), std::string(to_string(row.state)),
               row.reason.empty() ? row.folder : row.reason});
    array.push_back({{"origin", std::string(to_string(row.origin))},
                     {"name", row.name},
                     {"version", row.version},
                     {"embedded_commit", row.embedded_commit},
                     {"trunk_commit", row.trunk_commit},
                     {"content_hash", row.content_hash},
                     {"state", std::string(to_string(row.state))},
                     {"reason", row.reason},
                     {"folder", row.folder}});
  }
  if (invocation.json) {
    invocation.out << nlohmann::json{{"builds", array}}.dump(2) << '\n';
  } else {
    table.print(invocation.out);
  }
  return ExitStatus::done;
}

}  // namespace

void add_builds(Commands& commands) {
  commands.add("builds", "The builds that are known, and where they lie", run_builds);
}

}  // namespace torchwatch::commands
