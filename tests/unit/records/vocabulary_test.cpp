#include "torchwatch/records/vocabulary.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace torchwatch;

TEST_CASE("every metric's spelling parses back to itself") {
  for (int i = 0; i <= static_cast<int>(Metric::package_size); ++i) {
    const auto metric = static_cast<Metric>(i);
    REQUIRE(parse_metric(to_string(metric)).value() == metric);
  }
}

TEST_CASE("what is shown beside a metric is of its pass and refused where verdicts are asked for") {
  for (const auto metric : {Metric::first_iteration, Metric::throughput, Metric::compile_time,
                            Metric::compile_peak, Metric::package_size}) {
    CHECK_FALSE(is_judged(metric));
    CHECK(is_judged(shown_with(metric)));
    CHECK(pass_of(metric) == pass_of(shown_with(metric)));
    CHECK_FALSE(is_leak(metric));
    for (const auto device : {Device::cpu, Device::cuda}) {
      const auto& judged = judged_metrics_of(device);
      CHECK(std::ranges::find(judged, metric) == judged.end());
      CHECK(std::ranges::all_of(judged, is_judged));
    }
    const auto error = parse_judged_metric(to_string(metric)).error();
    CHECK(error.code == ErrorCode::invalid);
    CHECK(error.message == "metric \"" + std::string(to_string(metric)) + "\" is shown beside " +
                               std::string(to_string(shown_with(metric))) +
                               " and not judged; allowed: time, "
                               "device_time, cpu_peak, device_peak, cpu_peak_resident, "
                               "device_peak_total, leak_growth, leak_retained, heap_growth, "
                               "output_difference");
  }
  CHECK(parse_judged_metric("time").value() == Metric::time);
  CHECK(parse_judged_metric("speed").error().message.find("is not known; allowed: time, ") !=
        std::string::npos);
  CHECK(unit_of(Metric::first_iteration) == "ns");
  CHECK(unit_of(Metric::throughput) == "items/1000 s");
  CHECK(unit_of(Metric::compile_time) == "ns");
  CHECK(unit_of(Metric::compile_peak) == "bytes");
  CHECK(unit_of(Metric::package_size) == "bytes");
  CHECK(unit_of(Metric::output_difference) == "1e-9");
  using Metrics = std::vector<Metric>;
  CHECK(metrics_beside(Metric::time) ==
        Metrics{Metric::first_iteration, Metric::throughput, Metric::compile_time});
  CHECK(metrics_beside(Metric::cpu_peak) == Metrics{Metric::compile_peak, Metric::package_size});
  CHECK(metrics_beside(Metric::leak_growth).empty());
  CHECK(metrics_beside(Metric::throughput).empty());
}

TEST_CASE("a configuration is written device-mode and read back") {
  for (const auto* text : {"cpu-train", "cpu-infer", "cuda-train", "cuda-infer"}) {
    REQUIRE(to_string(parse_configuration(text).value()) == text);
  }
}

TEST_CASE("an unknown word's error names it and what is allowed") {
  const auto error = parse_configuration("tpu-train").error();
  REQUIRE(error.code == ErrorCode::invalid);
  REQUIRE(error.message ==
          "configuration \"tpu-train\" is not known; allowed: cpu-train, cpu-infer, cuda-train, "
          "cuda-infer");
  for (const auto* none : {"", "cpu", "cpu-", "-train", "cpu-train-x"}) {
    CHECK_FALSE(parse_configuration(none));
  }
}

TEST_CASE("a variant is written by what differs from the default and read back") {
  const Variant variant{Precision::bf16, Backend::eager, 8, 2};
  REQUIRE(to_string(variant) == "bf16,batch=8,threads=2");
  REQUIRE(parse_variant("bf16,batch=8,threads=2").value() == variant);
  REQUIRE(parse_variant("default").value() == Variant{});
}

TEST_CASE("a variant names an operator of the workload") {
  const auto variant = parse_variant("threads=2,operator=aten::add_").value();
  CHECK(variant.operator_name == "aten::add_");
  CHECK(to_string(variant) == "threads=2,operator=aten::add_");
  const Benchmark benchmark{"resnet18", {Device::cpu, Mode::infer}, variant};
  CHECK(to_string(benchmark) == "resnet18 cpu-infer threads=2,operator=aten::add_");
  CHECK(is_of_operator(benchmark));
  CHECK(to_string(whole_of(benchmark)) == "resnet18 cpu-infer threads=2");
  CHECK_FALSE(is_of_operator(whole_of(benchmark)));
}

TEST_CASE("what cannot be the name of an operator is refused") {
  for (const std::string name : {"", "gelu", "aten::", "::gelu", "aten::gelu/x", "aten::a b",
                                 "aten::a::b", "aten:gelu", "(outside operators)"}) {
    INFO(name);
    const auto read = parse_variant("operator=" + name);
    REQUIRE_FALSE(read);
    CHECK(read.error().message ==
          "operator \"" + name + "\" must be a name as LibTorch has it, such as aten::gelu");
  }
  CHECK_FALSE(parse_variant("operator=aten::" + std::string(100, 'a')));
  CHECK_FALSE(parse_variant("operator=aten::mul,operator=aten::add"));
}

TEST_CASE("a variant names its backend") {
  CHECK(parse_variant("bf16,eager").value().backend == Backend::eager);
  CHECK(parse_variant("torchscript").value().backend == Backend::torchscript);
  CHECK(parse_variant("threads=2,aot_inductor").value().backend == Backend::aot_inductor);
  CHECK(parse_variant("precision=bf16,backend=torchscript").value() ==
        parse_variant("bf16,torchscript").value());
  CHECK_FALSE(parse_variant("backend=bf16"));
}

TEST_CASE("a variant with a part that means nothing is refused") {
  REQUIRE(parse_variant("batch=0").error().code == ErrorCode::invalid);
  REQUIRE(parse_variant("batch=8x").error().code == ErrorCode::invalid);
  CHECK(
      parse_variant("inductor").error().message ==
      "variant part \"inductor\" is not known; allowed: a precision (fp32, tf32, fp16, bf16, amp), "
      "a backend (eager, torchscript, aot_inductor), batch=N, threads=N, operator=NAME");
  REQUIRE(parse_variant("").error().code == ErrorCode::invalid);
}
