// The lists of words in openapi.json, docs/schemas and bisect.yml are those of the service.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "file_content.hpp"
#include "samples.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/documents/block.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/lookup/lookup.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/recheck.hpp"
#include "words.hpp"

using namespace torchwatch;
using nlohmann::json;

namespace {

const std::filesystem::path kSource = TORCHWATCH_SOURCE_DIR;

using List = std::vector<std::string>;
using Lists = std::map<std::string, List>;

template <typename Enum>
List words() {
  List list;
  for (const auto& word : Words<Enum>::kAll) list.emplace_back(word.spelling);
  return list;
}

List judged_metrics() {
  auto list = words<Metric>();
  std::erase_if(list, [](const auto& word) { return !parse_judged_metric(word); });
  return list;
}

/// What a page's filter takes.
List all_or(List list) {
  list.insert(list.begin(), "all");
  return list;
}

/// What sorts by these columns, each from the smallest and from the largest; empty, as a form sends
/// it without a choice.
List orders(const List& columns) {
  List list{""};
  for (const auto& column : columns) list.insert(list.end(), {column, "-" + column});
  return list;
}

/// The words of an enumeration without a table, up to its last enumerator.
template <typename Enum>
List words_up_to(Enum last) {
  List list;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    list.emplace_back(to_string(static_cast<Enum>(i)));
    std::ranges::replace(list.back(), ' ', '_');
  }
  return list;
}

List configurations() {
  List list;
  for (const auto& device : Words<Device>::kAll) {
    for (const auto& mode : Words<Mode>::kAll) {
      list.push_back(to_string(Configuration{device.value, mode.value}));
    }
  }
  return list;
}

/// The units of all metrics, each once.
template <typename UnitOf>
List units(UnitOf unit) {
  List list;
  for (const auto& metric : Words<Metric>::kAll) {
    const std::string word(unit(metric.value));
    if (std::ranges::find(list, word) == list.end()) list.push_back(word);
  }
  return list;
}

List health_states() {
  const health::Problem of_item{.source = "build", .item = "2026-06-17", .sentence = "it waits"};
  const health::Problem of_service{.source = "storage", .item = "", .sentence = "it is full"};
  List list;
  for (const auto& problems :
       std::vector<std::vector<health::Problem>>{{}, {of_item}, {of_service}}) {
    health::Report report;
    report.problems = problems;
    list.push_back(health::to_json(report, false).at("status"));
  }
  return list;
}

/// The lists of words that descriptions have, as the service knows them, by the names in
/// openapi.json.
Lists known_lists() {
  const auto search_unit = [](Metric metric) {
    return bisection::is_relative(metric) ? "log ratio" : unit_of(metric);
  };
  return {
      {"ComparisonState", words<storage::ComparisonState>()},
      {"Purpose", words<storage::Purpose>()},
      {"BuildState", words<storage::BuildState>()},
      {"BuildOrigin", words<storage::BuildOrigin>()},
      {"IncidentState", words<storage::IncidentState>()},
      {"IncidentKind", words<IncidentKind>()},
      {"DecisionKind", words<storage::DecisionKind>()},
      {"RecheckOutcome", words<report::RecheckOutcome>()},
      {"BisectionState", words<storage::BisectionState>()},
      {"BisectionOutcome", words<bisection::BisectionOutcome>()},
      {"RevertOutcome", words<bisection::RevertOutcome>()},
      {"TraceStepKind", words<bisection::EventKind>()},
      // The words of requests::kind_text; a stored request has one of three kinds.
      {"RequestKind", {"nightly", "comparison", "measurement", "bisection", "fetch"}},
      {"RequestState", words<storage::RequestState>()},
      {"OutboxKind", words<storage::OutboxKind>()},
      {"OutboxState", words<storage::OutboxState>()},
      {"ItemKind", words<storage::ItemKind>()},
      {"Device", words<Device>()},
      {"Mode", words<Mode>()},
      {"Configuration", configurations()},
      {"Preset", words<Preset>()},
      {"Precision", words<Precision>()},
      {"Backend", words<Backend>()},
      {"Metric", judged_metrics()},
      {"RunMetric", words<Metric>()},
      {"Unit", units(unit_of)},
      {"SearchUnit", units(search_unit)},
      {"VerdictWord", words<Verdict>()},
      {"Pass", words<Pass>()},
      {"AttemptState", words<storage::AttemptState>()},
      {"RunStatus", words<RunStatus>()},
      {"SampleKind",
       {storage::kWallSamples, storage::kDeviceSamples, storage::kLiveBytes, storage::kHeapBytes}},
      {"SampleUnit", {"ns", "bytes"}},
      {"AnnotationKind", {"opened", "culprit", "accepted", "closed", "reopened", "machine"}},
      {"ComparisonSide", words<comparison::Side>()},
      {"Stage", words<comparison::Stage>()},
      {"SearchedCommitState", {"searched", "folded", "unbuildable", "suspect", "culprit"}},
      {"FoundKind", words<lookup::FoundKind>()},
      {"PurposeShown", all_or(words<storage::Purpose>())},
      {"IncidentStateListed", report::state_words()},
      {"IncidentStateShown", all_or(report::state_words())},
      {"BuildOriginShown", all_or(words<storage::BuildOrigin>())},
      {"VerdictsShown", {"all", "regressed", "improved", "unsure", "failed", "unchanged"}},
      {"ObservingPass", {"coverage", "profile"}},
      {"WebhookState", {"pong", "ignored", "known", "pending"}},
      {"WorkloadOrder", {"effect", "name", "domain"}},
      {"GpuOrder", {"name", "active", "change"}},
      {"ModelsOrder",
       orders({"model", "domain", "cpu-train", "cpu-infer", "cuda-train", "cuda-infer"})},
      {"SeriesOrder", orders({"configuration", "metric", "change", "spread"})},
      {"BuildFiles", {"there", "pinned", "gone"}},
      {"HistoryUnit", {"values", "changes", "logarithmic"}},
      {"HealthStatus", health_states()},
      {"ErrorCode", words_up_to(ErrorCode::internal)},
  };
}

/// "comparison_state" for "ComparisonState".
std::string snake_case(const std::string& name) {
  std::string snake;
  for (const unsigned char letter : name) {
    if (std::isupper(letter) != 0 && !snake.empty()) snake += '_';
    snake += static_cast<char>(std::tolower(letter));
  }
  return snake;
}

/// The named lists among the entries of a description.
Lists lists_of(const json& entries) {
  Lists lists;
  for (const auto& [name, entry] : entries.items()) {
    if (entry.contains("enum")) lists[name] = entry.at("enum").get<List>();
  }
  return lists;
}

/// How many lists of two words or more there are at any depth.
std::size_t count_of_lists(const json& node) {
  if (!node.is_structured()) return 0;
  const auto list = node.is_object() ? node.find("enum") : node.end();
  std::size_t count = list != node.end() && list->is_array() && list->size() > 1 ? 1 : 0;
  for (const auto& child : node) count += count_of_lists(child);
  return count;
}

/// Schemas with one list that no stored enumeration has: what was changed, how grave a finding is,
/// whether files are there, where a key was set, what changed its state, what was observed alone,
/// of which of two builds a trace is.
const std::set<std::string> kWithListsOfTheirOwn{"done.json",    "check.json", "build_list.json",
                                                 "config.json",  "event.json", "measure.json",
                                                 "incident.json"};

void check_words(const Lists& described, const Lists& known) {
  for (const auto& [name, list] : described) {
    INFO(name);
    REQUIRE(known.contains(name));
    CHECK(list == known.at(name));
  }
}

}  // namespace

TEST_CASE("openapi.json lists the words of each enumeration once, and all of them") {
  const auto document = json::parse(test::content_of(kSource / "service/api/openapi.json"));
  const auto lists = lists_of(document.at("components").at("schemas"));
  REQUIRE(lists.size() > 20);
  check_words(lists, known_lists());
  CHECK(count_of_lists(document) == lists.size());
}

TEST_CASE("the schemas of the commands list the words of each enumeration once, and all of them") {
  const auto folder = kSource / "docs/schemas";
  const auto definitions = json::parse(test::content_of(folder / "definitions.json"));
  const auto lists = lists_of(definitions.at("$defs"));
  REQUIRE(lists.size() > 10);
  Lists known;
  for (const auto& [name, list] : known_lists()) known[snake_case(name)] = list;
  check_words(lists, known);
  CHECK(count_of_lists(definitions) == lists.size());
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (entry.path().extension() != ".json" || name == "definitions.json") continue;
    INFO(name);
    const bool has_own = kWithListsOfTheirOwn.contains(name);
    CHECK(count_of_lists(json::parse(test::content_of(entry.path()))) == (has_own ? 1 : 0));
  }
}

TEST_CASE("the workflow that asks for a bisection offers every metric and configuration") {
  auto text = test::content_of(kSource / ".github/workflows/bisect.yml");
  std::erase_if(text, [](unsigned char letter) { return std::isspace(letter) != 0; });
  for (const auto& list : {judged_metrics(), configurations()}) {
    std::string options;
    for (const auto& word : list) options += (options.empty() ? "" : ",") + word;
    CHECK(text.find("options:[" + options + "]") != std::string::npos);
  }
}
