#include "answers.hpp"

#include <catch2/catch.hpp>
#include <sstream>

using namespace torchwatch;
using Catch::Contains;
using storage::VerdictRow;

namespace {

VerdictRow time_of(const std::string& workload, Verdict verdict, double ratio) {
  return {.series = {{workload, {}, {}}, Metric::time},
          .verdict = verdict,
          .ratio = ratio,
          .interval_low = ratio * 0.99,
          .interval_high = ratio * 1.01,
          .baseline_value = 1'000'000,
          .candidate_value = 1'000'000 * ratio,
          .reason = verdict == Verdict::unsupported ? "no bf16 here" : ""};
}

studies::StudyFile study() {
  return {.title = "Threads", .about = "One against two.", .pairs = {}};
}

std::vector<studies::Answer> answers() {
  studies::Answer answer;
  answer.pair.settings = {.name = "two threads", .baseline = "threads=1", .candidate = "threads=2"};
  answer.machine = "Model X, 2 cores";
  answer.facts.candidate.name = "2.13.0";
  answer.facts.verdicts = {
      time_of("a", Verdict::improved, 0.5), time_of("b", Verdict::regressed, 2),
      time_of("c", Verdict::improved, 0.5), time_of("d", Verdict::unsupported, 0),
      time_of("e", Verdict::inconclusive, 0)};
  return {answer};
}

}  // namespace

TEST_CASE("the mean of a pair is geometric, over what ran under both settings") {
  const auto times = studies::times_of(answers().front().facts.verdicts);
  CHECK(times.benchmarks == 3);
  CHECK(times.ratio == Approx(std::pow(0.5, 1.0 / 3)));
  CHECK(studies::times_of({}).benchmarks == 0);
}

TEST_CASE("a study's page says on what it was measured, and what could not be") {
  std::ostringstream page;
  studies::print_page(page, study(), answers(), "torchwatch study s.toml 2.13.0");
  CHECK_THAT(page.str(), Contains("# Threads") && Contains("- machine: Model X, 2 cores") &&
                             Contains("- build: 2.13.0") &&
                             Contains("`torchwatch study s.toml 2.13.0`") &&
                             Contains("A: `threads=1`, B: `threads=2`") &&
                             Contains("no bf16 here") && Contains("-20.6 %"));
}

TEST_CASE("a study for programs has the ratio of each pair, and none where nothing ran") {
  auto both = answers();
  both.push_back(both.front());
  both.back().facts.verdicts.clear();
  const auto json = studies::to_json(study(), both);
  CHECK(json.at("pairs").at(0).at("benchmarks") == 3);
  CHECK(json.at("pairs").at(0).at("between") == "threads=1");
  CHECK(json.at("pairs").at(1).at("time_ratio").is_null());
}
