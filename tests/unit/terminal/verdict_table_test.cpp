#include "torchwatch/terminal/verdict_table.hpp"

#include <catch2/catch.hpp>
#include <sstream>

using namespace torchwatch;
using namespace torchwatch::terminal;
using Catch::Contains;

namespace {

storage::VerdictRow verdict(Verdict word, double ratio) {
  storage::VerdictRow row;
  row.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  row.verdict = word;
  row.ratio = ratio;
  row.interval_low = ratio > 0 ? ratio - 0.02 : 0;
  row.interval_high = ratio > 0 ? ratio + 0.02 : 0;
  row.baseline_value = 2e6;
  row.candidate_value = 2.3e6;
  row.runs = 24;
  return row;
}

}  // namespace

TEST_CASE("the table of verdicts begins with what regressed") {
  std::ostringstream out;
  print_verdicts(out, {verdict(Verdict::unchanged, 1.0), verdict(Verdict::regressed, 1.15)}, 0.98);
  const auto text = out.str();
  CHECK(text.find("regressed") < text.find("unchanged"));
  CHECK_THAT(text, Contains("+15.0 %") && Contains("[+13.0, +17.0] %"));
  CHECK_THAT(text, Contains("98 % interval"));
}
