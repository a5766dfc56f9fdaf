// A search that begins where culprits of the past lay.
#include <algorithm>

#include "incident_day.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/storage/bisection_store.hpp"

using namespace torchwatch;

namespace {

constexpr std::size_t kCommits = 16;
constexpr std::size_t kNative = 12;   ///< the only commit that changes native code
constexpr std::size_t kCulprit = 12;  ///< unless a test says otherwise

/// Changes one kernel and many Python files; the commit `slow` makes training half as slow again.
std::vector<test::ScriptedCommit> commits(std::size_t slow) {
  std::vector<test::ScriptedCommit> all;
  for (std::size_t i = 0; i < kCommits; ++i) {
    const auto number = std::to_string(i);
    all.push_back({.subject = "Commit " + number,
                   .behaviour = i == slow ? "time soft_actor_critic cpu-train 1.5" : "# " + number,
                   .file = (i == kNative ? "native/" : "python/") + number});
  }
  all.front().behaviour = "noise 0.01";
  return all;
}

/// Stores six searches of that day which named the commit of native code.
void store_past(test::IncidentDay& day) {
  storage::BisectionStore store(day.database());
  const auto& shas = day.day.commits();
  bisection::BisectionResult result;
  result.culprits.emplace_back().commits = {shas.at(kNative)};
  for (int search = 0; search < 6; ++search) {
    storage::BisectionRow row;
    row.good = shas.front();
    row.bad = shas.back();
    row.spec_json = "{}";
    row.created_at = 1;
    REQUIRE(store.end(store.open(row).value(), to_json(result), 2));
  }
}

struct Search {
  bisection::BisectionResult result;
  std::vector<report::TraceStep> steps;
};

Search search_of(test::IncidentDay& day) {
  const auto comparison = day.carry_out();
  const auto incident = day.incident(comparison, IncidentKind::regression);
  const auto row = storage::BisectionStore(day.database()).get(*incident.bisection).value();
  return {bisection::parse_bisection_result(row.result_json).value(),
          bisection::trace_of(day.database(), row).value()};
}

}  // namespace

TEST_CASE("a search begins where culprits of the past lay, says so, and needs fewer builds") {
  test::IncidentDay untaught(false, commits(kCulprit));
  test::IncidentDay day(false, commits(kCulprit));
  store_past(day);
  const auto before = search_of(untaught);
  const auto taught = search_of(day);
  CHECK(before.result.culprit() == untaught.day.commits()[kCulprit]);
  CHECK(taught.result.culprit() == day.day.commits()[kCulprit]);
  CHECK(taught.result.builds < before.result.builds);
  REQUIRE(taught.steps.front().kind == bisection::EventKind::weighed);
  CHECK(report::sentence_on(taught.steps.front()) ==
        "weighed the commits by the folders that they change: the 6 culprits named before changed "
        "aten/native (6)");
  CHECK(std::ranges::count(before.steps, bisection::EventKind::weighed, &report::TraceStep::kind) ==
        0);
}

TEST_CASE("a culprit where none ever lay is named all the same") {
  constexpr std::size_t kUnusual = 4;
  test::IncidentDay day(false, commits(kUnusual));
  store_past(day);
  const auto search = search_of(day);
  CHECK(search.result.culprit() == day.day.commits()[kUnusual]);
  CHECK(search.result.outcome == bisection::BisectionOutcome::found);
}
