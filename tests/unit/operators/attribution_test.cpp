#include "torchwatch/operators/attribution.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::operators;
using Catch::Contains;

namespace {

Benchmark on_cpu(const std::string& workload) {
  return {workload, {Device::cpu, Mode::train}, {}};
}

Benchmark on_gpu(const std::string& workload) {
  return {workload, {Device::cuda, Mode::train}, {}};
}

storage::IncidentSeriesRow row(const Benchmark& benchmark, Metric metric, double before,
                               double after) {
  return {.series = {benchmark, metric},
          .ratio = before > 0 ? after / before : 0,
          .baseline_value = before,
          .candidate_value = after};
}

storage::IncidentRow incident(IncidentKind kind, std::vector<storage::IncidentSeriesRow> series) {
  storage::IncidentRow made;
  made.kind = kind;
  made.series = std::move(series);
  return made;
}

/// An operator whose time moved for certain.
Change moved(const std::string& name, std::int64_t before_ns, std::int64_t after_ns) {
  const auto difference = static_cast<double>(after_ns - before_ns);
  return {.name = name,
          .before = {.calls = 4, .self_ns = before_ns},
          .after = {.calls = 4, .self_ns = after_ns},
          .difference_ns = difference,
          .low_ns = difference - 10'000,
          .high_ns = difference + 10'000};
}

Attribution of(std::vector<Change> changes) {
  return {.benchmark = on_cpu("resnet18"),
          .pairs = 8,
          .iteration_ns = 2'000'000,
          .watched_ns = 2'100'000,
          .changes = std::move(changes)};
}

}  // namespace

TEST_CASE("an incident is watched where it slowed down most on a CPU, else where bytes grew most") {
  const auto times = incident(
      IncidentKind::regression,
      {row(on_cpu("dlrm"), Metric::time, 100, 112), row(on_gpu("resnet18"), Metric::time, 100, 180),
       row(on_cpu("resnet18"), Metric::time, 100, 130),
       row(on_cpu("alexnet"), Metric::cpu_peak, 1 << 20, 9 << 20)});
  CHECK(slowest_benchmark(times) == on_gpu("resnet18"));
  CHECK(watched_benchmark(times) == on_cpu("resnet18"));
  const auto leaks =
      incident(IncidentKind::leak, {row(on_cpu("dlrm"), Metric::leak_growth, 0, 4096),
                                    row(on_cpu("alexnet"), Metric::leak_retained, 0, 81'920),
                                    row(on_cpu("resnet18"), Metric::heap_growth, 0, 9'000'000)});
  CHECK_FALSE(slowest_benchmark(leaks));
  CHECK(watched_benchmark(leaks) == on_cpu("alexnet"));
  CHECK(pairs_worth(times) > pairs_worth(leaks));
}

TEST_CASE("what operators cannot tell is not watched") {
  const auto watched = [](IncidentKind kind, const storage::IncidentSeriesRow& of_incident) {
    return watched_benchmark(incident(kind, {of_incident}));
  };
  CHECK_FALSE(watched(IncidentKind::regression, row(on_gpu("dlrm"), Metric::time, 100, 130)));
  CHECK_FALSE(watched(IncidentKind::leak, row(on_cpu("dlrm"), Metric::heap_growth, 0, 9'000)));
  CHECK_FALSE(watched(IncidentKind::lost, row(on_cpu("dlrm"), Metric::time, 100, 130)));
  CHECK_FALSE(
      watched(IncidentKind::result, row(on_cpu("dlrm"), Metric::output_difference, 0, 1'000'000)));
}

TEST_CASE("the text names what takes more, how certain that is, and of how much") {
  const auto text = text_of(of({moved("aten::gelu", 1'000'000, 1'380'000)}));
  CHECK_THAT(text, Contains("aten::gelu takes +38.0 %, +380 µs [+370 µs, +390 µs]") &&
                       Contains("of an iteration of 2 ms") &&
                       Contains("No other operator differs certainly by 1 % of it."));
}

TEST_CASE("time that moves from one operator to another is seen") {
  const auto text = text_of(
      of({moved("aten::gelu", 1'000'000, 1'380'000), moved("aten::mul", 500'000, 200'000)}));
  CHECK_THAT(text,
             Contains("aten::gelu takes +38.0 %") && Contains("Less time: aten::mul takes -60"));
}

TEST_CASE("the text says so where no operator differs for certain") {
  CHECK_THAT(text_of(of({moved("aten::gelu", 1'000'000, 1'005'000)})),
             Contains("No operator differs certainly by 1 % of an iteration of 2 ms."));
}

TEST_CASE("of many operators two are named and the others counted") {
  std::vector<Change> changes;
  for (int i = 0; i < 5; ++i) {
    changes.push_back(moved("aten::op_" + std::to_string(i), 100'000, 400'000));
  }
  const auto text = text_of(of(changes));
  CHECK_THAT(text, Contains("aten::op_0") && Contains("aten::op_1") && Contains("and 3 others"));
  CHECK_THAT(text, !Contains("aten::op_2"));
}

TEST_CASE("an operator that is called anew has no share of what it took before") {
  auto anew = moved("aten::copy_", 0, 400'000);
  anew.before.calls = 0;
  CHECK_THAT(text_of(of({anew})), Contains("aten::copy_ is called anew, +400 µs"));
  CHECK_THAT(text_of(of({moved("aten::copy_", 0, 400'000)})),
             Contains("aten::copy_ takes more, +400 µs"));
}

TEST_CASE("a leak names the operator whose bytes stay, without a word of time") {
  auto leak = of({{.name = "aten::cat", .after = {.kept_bytes = 4096}},
                  {.name = "aten::mm", .before = {.kept_bytes = 64}, .after = {.kept_bytes = 64}}});
  leak.pairs = 2;
  CHECK(text_of(leak) == "aten::cat keeps +4,096 bytes/iteration.");
}

TEST_CASE("more that is allocated is named where nothing is kept") {
  auto peak = of({{.name = "aten::lstm",
                   .before = {.allocated_bytes = 1 << 20},
                   .after = {.allocated_bytes = 32 << 20}}});
  CHECK(text_of(peak) == "aten::lstm allocates +31 MiB an iteration.");
}

TEST_CASE("where bytes tell nothing either, the text says so") {
  CHECK(text_of(of({{.name = "aten::mm"}})) ==
        "No operator keeps more, or allocates 64 KiB more an iteration.");
}

TEST_CASE("JSON has every operator; an interval that is not known is null") {
  auto found = of({moved("aten::gelu", 1'000'000, 1'380'000), {.name = "aten::mm"}});
  const auto json = json_of(found);
  CHECK(json.at("benchmark") == "resnet18 cpu-train");
  CHECK(json.at("pairs") == 8);
  REQUIRE(json.at("operators").size() == 2);
  const auto& gelu = json.at("operators")[0];
  CHECK(gelu.at("before").at("self_ns") == 1'000'000);
  CHECK(gelu.at("after").at("self_ns") == 1'380'000);
  CHECK(gelu.at("low_ns") == 370'000);
  CHECK(json.at("operators")[1].at("low_ns").is_null());
}
