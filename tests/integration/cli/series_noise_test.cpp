// What `series show` and `check --noise` say a series' comparisons find.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "noise_table.hpp"
#include "stored_command_line.hpp"
#include "torchwatch/documents/block.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Five blocks of the series, in which pairs differ by 1 %.
void store_blocks(const test::CommandLine& line) {
  const auto database = line.open();
  RunStore runs(*database);
  for (int i = 0; i < 5 * comparison::Block::kRuns; ++i) {
    const comparison::Block block{.benchmark = test::CommandLine::kSeries.benchmark,
                                  .index = i / comparison::Block::kRuns};
    const auto slot = block.slot(i % comparison::Block::kRuns);
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                        .slot = slot,
                        .build = 1,
                        .benchmark = block.benchmark},
                       slot, i));
    RunResult result;
    result.attempt = slot;
    result.values = {{Metric::time, 2'000'000 + (i % 8 == 1 ? 20'000 : 0)}};
    result.samples_ns = {result.values.at(Metric::time)};
    REQUIRE(runs.record({{slot, result}}, i));
  }
}

}  // namespace

TEST_CASE(
    "the minimum detectable effect of a series is that of all its runs, however few it lists") {
  const test::CommandLine line;
  line.store_runs();
  store_blocks(line);
  const auto effect = [&](const std::string& last) {
    const auto shown =
        line.run({"series", "show", "--workload", "resnet18", "--json", "--last", last});
    const auto item = json::parse(shown.out).at("items").at(0);
    CHECK(item.at("values").size() == std::stoul(last));
    return item.at("minimum_detectable_effect");
  };
  CHECK(effect("2").is_number());
  CHECK(effect("2") == effect("20"));
}

TEST_CASE("a series is too noisy by its own threshold") {
  measurement::NoiseFigure strict;
  strict.benchmark.workload = "dlrm";
  strict.threshold = 0.03;
  strict.floor.change = 0.05;
  auto lenient = strict;
  lenient.threshold = 0.5;
  const auto printed = [](const measurement::NoiseFigure& figure) {
    std::ostringstream out;
    measuring::print_noise(out, {figure}, {.columns = 200});
    return out.str();
  };
  CHECK_THAT(printed(strict), Contains("too noisy for +3.0 %"));
  CHECK_THAT(printed(lenient), Contains("ok") && !Contains("too noisy"));
}
