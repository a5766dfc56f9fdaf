#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "reader_command.hpp"
#include "table.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::cli {
namespace {

const char* to_word(storage::BuildOrigin origin) {
  switch (origin) {
    case storage::BuildOrigin::nightly: return "nightly";
    case storage::BuildOrigin::commit: return "commit";
    case storage::BuildOrigin::folder: return "folder";
    case storage::BuildOrigin::release: return "release";
  }
  return "";
}

const char* to_word(storage::BuildState state) {
  switch (state) {
    case storage::BuildState::discovered: return "discovered";
    case storage::BuildState::ready: return "ready";
    case storage::BuildState::rejected: return "rejected";
  }
  return "";
}

Outcome run_builds(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::BuildStore(*database).list());
  Table table({{"origin"}, {"name"}, {"version"}, {"trunk commit"}, {"state"}, {"folder"}});
  auto array = nlohmann::json::array();
  for (const auto& row : rows) {
    const bool is_commit = row.origin == storage::BuildOrigin::commit;
    table.add({to_word(row.origin), is_commit ? row.name.substr(0, 12) : row.name, row.version,
               row.trunk_commit.substr(0, 12), to_word(row.state),
               row.reason.empty() ? row.folder : row.reason});
    array.push_back({{"origin", to_word(row.origin)},
                     {"name", row.name},
                     {"version", row.version},
                     {"embedded_commit", row.embedded_commit},
                     {"trunk_commit", row.trunk_commit},
                     {"content_hash", row.content_hash},
                     {"state", to_word(row.state)},
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

}  // namespace torchwatch::cli
