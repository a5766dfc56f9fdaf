#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "torchwatch/commands/reader_command.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::cli {
namespace {

constexpr int kComparisonsShown = 14;

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
  using Align = terminal::Table::Align;
  terminal::Table table({{"build against itself"},
                         {"series judged", Align::right},
                         {"called slower", Align::right},
                         {"called faster", Align::right},
                         {"inconclusive", Align::right},
                         {"false-alarm rate, 95 % upper bound", Align::right}});
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

std::string name_of(const storage::ItemKey& key) {
  return std::string(to_string(key.kind)) + " " + key.item;
}

nlohmann::json waiting_json(const std::vector<storage::SetbackRow>& setbacks) {
  auto array = nlohmann::json::array();
  for (const auto& setback : setbacks) {
    array.push_back({{"kind", to_string(setback.key.kind)},
                     {"item", setback.key.item},
                     {"tries", setback.tries},
                     {"since", platform::iso_utc(setback.since)},
                     {"not_before", platform::iso_utc(setback.not_before)},
                     {"error", setback.error}});
  }
  return array;
}

void print_waiting(std::ostream& out, const std::vector<storage::SetbackRow>& setbacks) {
  out << '\n';
  terminal::Table table(
      {{"waiting"}, {"since, UTC"}, {"tries", terminal::Table::Align::right}, {"for"}});
  for (const auto& setback : setbacks) {
    table.add({name_of(setback.key), platform::date_and_minute(setback.since),
               std::to_string(setback.tries), setback.error});
  }
  table.print(out);
}

Outcome run_status(const Invocation& invocation) {
  TW_TRY(const auto database, commands::open_reader(invocation));
  storage::BuildStore builds(*database);
  storage::IncidentStore incidents(*database);
  storage::ComparisonStore store(*database);
  TW_TRY(const auto comparisons, store.list(kComparisonsShown));
  TW_TRY(const auto self_tests, store.self_tests());
  TW_TRY(const auto setbacks, storage::SetbackStore(*database).list());
  terminal::Table table({{"started, UTC"},
                         {"purpose"},
                         {"candidate"},
                         {"baseline"},
                         {"state"},
                         {"incidents", terminal::Table::Align::right},
                         {"remark"}});
  auto array = nlohmann::json::array();
  for (const auto& comparison : comparisons) {
    TW_TRY(const auto candidate, builds.get(comparison.candidate));
    std::string baseline;
    if (comparison.baseline) {
      TW_TRY(const auto row, builds.get(*comparison.baseline));
      baseline = row.name;
    }
    TW_TRY(const auto found, incidents.of_comparison(comparison.id));
    table.add({platform::date_and_minute(comparison.created_at),
               std::string(to_string(comparison.purpose)), candidate.name, baseline,
               std::string(to_string(comparison.state)), std::to_string(found.size()),
               report::remark_on(comparison)});
    array.push_back({{"id", comparison.id},
                     {"purpose", std::string(to_string(comparison.purpose))},
                     {"candidate", candidate.name},
                     {"baseline", baseline},
                     {"state", std::string(to_string(comparison.state))},
                     {"reason", report::remark_on(comparison)},
                     {"incidents", found.size()},
                     {"created_at", platform::iso_utc(comparison.created_at)}});
  }
  if (invocation.json) {
    invocation.out << nlohmann::json{{"comparisons", array},
                                     {"waiting", waiting_json(setbacks)},
                                     {"self_tests", self_tests_json(self_tests)}}
                          .dump(2)
                   << '\n';
  } else if (table.empty()) {
    invocation.out << "No comparison yet: `torchwatch nightly` carries out what is due.\n";
  } else {
    table.print(invocation.out);
    if (!self_tests.empty()) print_self_tests(invocation.out, self_tests);
  }
  if (!invocation.json && !setbacks.empty()) print_waiting(invocation.out, setbacks);
  return ExitStatus::done;
}

}  // namespace

void add_status(Commands& all) {
  all.add("status", "Recent comparisons, and how often the service itself was wrong",
               run_status)
      .footer("torchwatch status --json");
}

}  // namespace torchwatch::cli
