#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "reader_command.hpp"
#include "table.hpp"
#include "torchwatch/doors/clock.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::cli {
namespace {

constexpr int kNightsShown = 14;

nlohmann::json self_tests_json(const std::vector<storage::SelfTestTally>& tallies) {
  nlohmann::json object{{"all", report::json_of(storage::sum_of(tallies))},
                        {"by_metric", nlohmann::json::array()}};
  for (const auto& tally : tallies) {
    auto item = report::json_of(tally);
    item["metric"] = to_string(tally.metric);
    object["by_metric"].push_back(std::move(item));
  }
  return object;
}

void print_self_tests(std::ostream& out, const std::vector<storage::SelfTestTally>& tallies) {
  using Align = Table::Align;
  Table table({{"build against itself"},
               {"series judged", Align::right},
               {"called slower", Align::right},
               {"called faster", Align::right},
               {"inconclusive", Align::right},
               {"false alarms below (95 %)", Align::right}});
  const auto add = [&](const std::string& what, const storage::SelfTestTally& tally) {
    table.add({what, std::to_string(tally.series), std::to_string(tally.regressed),
               std::to_string(tally.improved), std::to_string(tally.inconclusive),
               report::false_alarms_bound_text(tally)});
  };
  for (const auto& tally : tallies) add(std::string(to_string(tally.metric)), tally);
  add("all", storage::sum_of(tallies));
  out << '\n';
  table.print(out);
}

Outcome run_status(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  storage::BuildStore builds(*database);
  storage::IncidentStore incidents(*database);
  storage::NightStore store(*database);
  TW_TRY(const auto nights, store.list(kNightsShown));
  TW_TRY(const auto self_tests, store.self_tests());
  Table table({{"begun, UTC"},
               {"kind"},
               {"candidate"},
               {"baseline"},
               {"state"},
               {"incidents", Table::Align::right},
               {"remark"}});
  auto array = nlohmann::json::array();
  for (const auto& night : nights) {
    TW_TRY(const auto candidate, builds.get(night.candidate));
    std::string baseline;
    if (night.baseline) {
      TW_TRY(const auto row, builds.get(*night.baseline));
      baseline = row.name;
    }
    TW_TRY(const auto found, incidents.of_night(night.id));
    table.add({doors::date_and_minute(night.created_at), std::string(to_string(night.kind)),
               candidate.name, baseline, std::string(to_string(night.state)),
               std::to_string(found.size()), night.reason});
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
    invocation.out
        << nlohmann::json{{"nights", array}, {"self_tests", self_tests_json(self_tests)}}.dump(2)
        << '\n';
  } else if (table.empty()) {
    invocation.out << "No night yet: `torchwatch nightly` carries out what is due.\n";
  } else {
    table.print(invocation.out);
    if (!self_tests.empty()) print_self_tests(invocation.out, self_tests);
  }
  return ExitStatus::done;
}

}  // namespace

void add_status(Commands& commands) {
  commands.add("status",
               "What has been measured lately, and how often the service itself was wrong",
               run_status);
}

}  // namespace torchwatch::cli
