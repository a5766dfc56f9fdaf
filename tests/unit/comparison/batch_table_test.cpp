#include "torchwatch/documents/batch_table.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::comparison;

namespace {

Benchmark benchmark_of(const char* workload, Mode mode, int batch = 0) {
  return {workload, {Device::cpu, mode}, {Precision::fp32, Backend::eager, batch, 0}};
}

std::string error_of(const char* text) {
  const auto table = parse_batch_table(text, Preset::small);
  REQUIRE_FALSE(table.has_value());
  return table.error().text();
}

}  // namespace

TEST_CASE("a table read back gives inference its batch and leaves everything else") {
  const BatchTable chosen{{key_in_table(benchmark_of("resnet18", Mode::infer)), 16}};
  const auto table = parse_batch_table(to_json(Preset::small, chosen), Preset::small);
  REQUIRE(table.value().size() == 1);

  const auto batch_after = [&](const Benchmark& benchmark) {
    std::vector<Benchmark> benchmarks{benchmark};
    apply(*table, benchmarks);
    return benchmarks.front().variant.batch;
  };
  CHECK(batch_after(benchmark_of("resnet18", Mode::infer)) == 16);
  CHECK(batch_after(benchmark_of("resnet18", Mode::infer, 2)) == 2);
  CHECK(batch_after(benchmark_of("resnet18", Mode::train)) == 0);
  CHECK(batch_after(benchmark_of("drq", Mode::infer)) == 0);
}

TEST_CASE("a batch that a variant names too is planned once") {
  const BatchTable table{{"resnet18 cpu", 16}};
  std::vector<Benchmark> benchmarks{benchmark_of("resnet18", Mode::train),
                                    benchmark_of("resnet18", Mode::infer),
                                    benchmark_of("resnet18", Mode::infer, 16)};
  apply(table, benchmarks);
  CHECK(benchmarks == std::vector{benchmark_of("resnet18", Mode::train),
                                  benchmark_of("resnet18", Mode::infer, 16)});
}

TEST_CASE("the error of an invalid table says what is wrong and how to make one") {
  CHECK(error_of("not json").find("no object \"batches\"") != std::string::npos);
  CHECK(error_of(R"({"preset": "paper", "batches": {}})").find("preset small") !=
        std::string::npos);
  CHECK(error_of(R"({"preset": "small", "batches": {"a cpu": 0}})").find("\"a cpu\" is 0") !=
        std::string::npos);
  CHECK(error_of("[]").find("torchwatch workload batches --out") != std::string::npos);
}
