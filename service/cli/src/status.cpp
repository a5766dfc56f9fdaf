#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "reader_command.hpp"
#include "table.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::cli {
namespace {

constexpr int kNightsShown = 14;

Outcome run_status(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  storage::BuildStore builds(*database);
  storage::IncidentStore incidents(*database);
  TW_TRY(const auto nights, storage::NightStore(*database).list(kNightsShown));
  Table table({{"begun, UTC"},
               {"kind"},
               {"candidate"},
               {"baseline"},
               {"state"},
               {"incidents", Table::Align::right}});
  auto array = nlohmann::json::array();
  for (const auto& night : nights) {
    TW_TRY(const auto candidate, builds.get(night.candidate));
    std::string baseline;
    if (night.baseline) {
      TW_TRY(const auto row, builds.get(*night.baseline));
      baseline = row.name;
    }
    TW_TRY(const auto found, incidents.of_night(night.id));
    table.add({date_and_minute(night.created_at), std::string(to_string(night.kind)),
               candidate.name, baseline, std::string(to_string(night.state)),
               std::to_string(found.size())});
    array.push_back({{"id", night.id},
                     {"kind", std::string(to_string(night.kind))},
                     {"candidate", candidate.name},
                     {"baseline", baseline},
                     {"state", std::string(to_string(night.state))},
                     {"reason", night.reason},
                     {"incidents", found.size()},
                     {"created_at", doors::iso_utc(night.created_at)}});
  }
  if (invocation.json) {
    invocation.out << nlohmann::json{{"nights", array}}.dump(2) << '\n';
  } else if (table.empty()) {
    invocation.out << "No night yet: `torchwatch nightly` carries out what is due.\n";
  } else {
    table.print(invocation.out);
  }
  return ExitStatus::done;
}

}  // namespace

void add_status(Commands& commands) {
  commands.add("status", "What has been measured lately, and in which state it is", run_status);
}

}  // namespace torchwatch::cli
