#include "torchwatch/terminal/comparison_text.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "golden.hpp"
#include "text_samples.hpp"

using namespace torchwatch;
using namespace torchwatch::terminal;
using Catch::Contains;

namespace {

std::string text_of(const ComparisonFacts& facts, const Screen& screen, bool all = false) {
  std::ostringstream out;
  print(out, facts, all, screen);
  return out.str();
}

std::size_t widest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(in, line);) widest = std::max(widest, width_of(line));
  return widest;
}

}  // namespace

TEST_CASE("a comparison reads as accepted and fits, at each width") {
  for (const int columns : {60, 80, 120, 200}) {
    const auto text = text_of(eventful_comparison(), {.columns = columns});
    CHECK(widest_line(text) <= static_cast<std::size_t>(columns));
    CHECK(text.find("`torchwatch comparison show 12 --all`") != std::string::npos);
    require_golden("comparison_" + std::to_string(columns) + ".txt", text);
  }
}

TEST_CASE("a comparison begins with one sentence on what matters") {
  CHECK(sentence_on(eventful_comparison()) ==
        "2026-08-17 against 2026-08-16: 3 series regressed, 2 series lost, 1 series improved, "
        "1 could not be decided, culprit 5d1c1c3f0a9e Check every element in addmm before the "
        "call");
  CHECK(sentence_on(quiet_comparison()) == "2026-08-17 against 2026-08-16: nothing regressed");
}

TEST_CASE("a comparison without a verdict says why there is none") {
  auto facts = quiet_comparison();
  facts.verdicts.clear();
  facts.comparison.reason = "both builds are the same";
  CHECK(sentence_on(facts) == "2026-08-17 against 2026-08-16: both builds are the same");
  facts.comparison.state = storage::ComparisonState::refused;
  facts.comparison.reason = "there is no workload \"tts_anglar\"";
  CHECK(sentence_on(facts) ==
        "2026-08-17 against 2026-08-16: refused, there is no workload \"tts_anglar\"");
  facts.comparison.state = storage::ComparisonState::ready;
  facts.stage = "measuring";
  CHECK(sentence_on(facts) == "2026-08-17 against 2026-08-16: no verdict yet, measuring");
}

TEST_CASE("a comparison of which nothing could be decided claims nothing") {
  auto facts = quiet_comparison();
  for (auto& row : facts.verdicts) row.verdict = Verdict::inconclusive;
  CHECK_THAT(sentence_on(facts), Contains("no conclusion") && !Contains("nothing regressed"));
}

TEST_CASE("a study of several benchmarks has a geometric mean of each metric") {
  auto facts = quiet_comparison();
  facts.verdicts = {verdict("dlrm", Metric::time, Verdict::regressed, 2.0),
                    verdict("vgg16", Metric::time, Verdict::improved, 0.5),
                    verdict("alexnet", Metric::time, Verdict::failed, 9.0),
                    verdict("dlrm", Metric::cpu_peak, Verdict::unchanged, 1.1)};
  CHECK_THAT(text_of(facts, {}), !Contains("Geometric means"));
  facts.study = storage::StudyRow{.baseline = "threads=1", .candidate = "threads=2"};
  const auto text = text_of(facts, {});
  CHECK_THAT(text, Contains("Geometric means over the benchmarks that ran on both sides"));
  CHECK_THAT(text, Contains("0.0 %           2") && Contains("+10.0 %           1"));
  facts.verdicts.erase(facts.verdicts.begin());
  CHECK_THAT(text_of(facts, {}), !Contains("Geometric means"));
}

TEST_CASE("unchanged series are one line unless all are asked for") {
  const auto brief = text_of(quiet_comparison(), {});
  CHECK_THAT(brief, Contains("4 of 4 series unchanged; `torchwatch comparison show 12 --all`") &&
                        !Contains("resnet18"));
  CHECK_THAT(text_of(quiet_comparison(), {}, true),
             Contains("Unchanged (4)") && Contains("resnet18") && !Contains("--all"));
}

TEST_CASE("change, value and interval come from one estimate, under the configured confidence") {
  const auto text = text_of(eventful_comparison(), {.columns = 200});
  CHECK_THAT(text,
             Contains("+16.7 %  [+14.7, +18.7] %") && Contains("9.684 ms") && Contains("11.3 ms"));
  CHECK_THAT(text, Contains("98 % interval") && !Contains("99 % interval"));
}

TEST_CASE("colours repeat what signs and words say") {
  const auto text = text_of(eventful_comparison(), {.has_colour = true});
  CHECK_THAT(text, Contains("\033[1;31mRegressed (3)\033[0m") && Contains("+16.7 %\033[0m"));
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  CHECK(plain == text_of(eventful_comparison(), {}));
}
