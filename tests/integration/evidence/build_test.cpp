#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"

using namespace torchwatch;
using comparison::Block;
using comparison::Stage;

namespace {

Benchmark on_gpu(const std::string& workload, Mode mode = Mode::train) {
  return {workload, {Device::cuda, mode}, {}};
}

struct Profiled : EvidenceRows {
  void add_profile(const Benchmark& benchmark, int position, Breakdown breakdown) {
    RunResult result;
    result.breakdown = breakdown;
    add_run(row, Block{benchmark, Pass::profile, Stage::screen, 0}, position, result);
  }

  void add_coverage(const Benchmark& benchmark, std::map<std::string, std::int64_t> operators) {
    RunResult result;
    result.operators = std::move(operators);
    add_run(row, Block{benchmark, Pass::coverage, Stage::screen, 0}, 1, result);
  }

  storage::BuildRow build(Id id) const { return storage::BuildStore(*database).get(id).value(); }

  Id baseline = add_build("2.14.0.dev20260816");
  Id candidate = add_build("2.14.0.dev20260817");
  storage::ComparisonRow row = add_comparison(candidate, baseline);
};

}  // namespace

TEST_CASE("the shares of a device are those of the newest profile in that mode") {
  Profiled rows;
  rows.add_profile(on_gpu("resnet18"), 1, {10, 0, 90});
  rows.add_profile(on_gpu("resnet18"), 2, {60, 10, 30});
  rows.add_profile(on_gpu("resnet18"), 0, {50, 25, 25});
  rows.add_profile(on_gpu("resnet18", Mode::infer), 1, {1, 0, 0});
  const auto shares = evidence::device_shares_of(rows.context, rows.build(rows.candidate),
                                                 Mode::train, rows.build(rows.baseline))
                          .value();
  CHECK(shares.before == "2.14.0.dev20260816");
  CHECK(shares.after == "2.14.0.dev20260817");
  REQUIRE(shares.rows.size() == 1);
  CHECK(shares.rows[0].label == "resnet18 cuda-train");
  REQUIRE(shares.rows[0].after);
  CHECK(shares.rows[0].after->active == Approx(0.6));
  CHECK(shares.rows[0].after->idle == Approx(0.3));
  REQUIRE(shares.rows[0].before);
  CHECK(shares.rows[0].before->copy == Approx(0.25));
}

TEST_CASE("a workload that only one build was profiled with has no shares for the other") {
  Profiled rows;
  rows.add_profile(on_gpu("alexnet"), 0, {1, 1, 2});
  rows.add_profile(on_gpu("resnet18"), 1, {1, 1, 2});
  const auto shares = evidence::device_shares_of(rows.context, rows.build(rows.candidate),
                                                 Mode::train, rows.build(rows.baseline))
                          .value();
  REQUIRE(shares.rows.size() == 2);
  CHECK(shares.rows[0].before);
  CHECK_FALSE(shares.rows[0].after);
  CHECK_FALSE(shares.rows[1].before);
  CHECK(shares.rows[1].after);
}

TEST_CASE("a profile of no time has no shares") {
  Profiled rows;
  rows.add_profile(on_gpu("resnet18"), 1, {0, 0, 0});
  const auto shares =
      evidence::device_shares_of(rows.context, rows.build(rows.candidate), Mode::train).value();
  REQUIRE(shares.rows.size() == 1);
  CHECK_FALSE(shares.rows[0].after);
}

TEST_CASE("what became uncovered is of the benchmarks that both builds were run in") {
  const evidence::Coverage before{.operators = {{"aten::conv2d", {on_gpu("alexnet")}},
                                                {"aten::relu", {on_gpu("alexnet")}},
                                                {"aten::lstm", {on_gpu("tacotron2")}}},
                                  .benchmarks = {on_gpu("alexnet"), on_gpu("tacotron2")}};
  const evidence::Coverage after{.operators = {{"aten::conv2d", {on_gpu("alexnet")}},
                                               {"aten::gelu", {on_gpu("alexnet")}},
                                               {"aten::mm", {on_gpu("hf_Bert")}}},
                                 .benchmarks = {on_gpu("alexnet"), on_gpu("hf_Bert")}};
  const auto change = evidence::coverage_change(before, after);
  CHECK(change.lost == std::vector<std::string>{"aten::relu"});
  CHECK(change.gained == std::vector<std::string>{"aten::gelu"});
  CHECK(change.benchmarks == 1);
}

TEST_CASE("a profile that shows no GPU has its reason, until a newer one shows it") {
  Profiled rows;
  RunResult result;
  result.breakdown_reason = "no driver";
  rows.add_run(rows.row, Block{on_gpu("alexnet"), Pass::profile, Stage::screen, 0}, 1, result);
  storage::EvidenceReader reader(*rows.database);
  const auto without = reader.unprofiled_of(rows.candidate).value();
  REQUIRE(without.size() == 1);
  CHECK(without.front().benchmark == on_gpu("alexnet"));
  CHECK(without.front().reason == "no driver");
  rows.add_profile(on_gpu("alexnet"), 2, {60, 10, 30});
  CHECK(reader.unprofiled_of(rows.candidate).value().empty());
}

TEST_CASE("operators know the benchmarks that call them") {
  Profiled rows;
  rows.add_coverage(on_gpu("alexnet"), {{"aten::conv2d", 5}, {"aten::relu", 7}});
  rows.add_coverage(on_gpu("resnet18"), {{"aten::conv2d", 20}});
  const auto coverage = evidence::coverage_of(*rows.database, rows.candidate).value();
  CHECK(coverage.benchmarks == std::vector{on_gpu("alexnet"), on_gpu("resnet18")});
  CHECK(coverage.operators.at("aten::conv2d").size() == 2);
  CHECK(coverage.operators.at("aten::relu") == std::vector{on_gpu("alexnet")});
  CHECK(evidence::coverage_of(*rows.database, rows.baseline).value().operators.empty());
  CHECK(evidence::covered_spaces(coverage).empty());
}

TEST_CASE("coverage is a share of the operators that the build itself has, by namespace") {
  Profiled rows;
  rows.add_coverage(on_gpu("alexnet"), {{"aten::conv2d", 5}, {"aten::relu", 7}});
  RunResult result;
  result.operators = {{"aten::conv2d", 20}, {"mkldnn::linear", 1}};
  result.environment.volatile_facts = {
      {"operators_registered.aten", 8}, {"operators_registered.mkldnn", 20}, {"load1_milli", 3}};
  rows.add_run(rows.row, Block{on_gpu("resnet18"), Pass::coverage, Stage::screen, 0}, 1, result);
  const auto coverage = evidence::coverage_of(*rows.database, rows.candidate).value();
  const auto spaces = evidence::covered_spaces(coverage);
  REQUIRE(spaces.size() == 2);
  CHECK(spaces[0].name == "mkldnn");
  CHECK(spaces[0].called == 1);
  CHECK(spaces[1].name == "aten");
  CHECK(spaces[1].called == 2);
  CHECK(spaces[1].registered == 8);
}
