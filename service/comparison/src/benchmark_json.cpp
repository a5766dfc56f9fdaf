#include "torchwatch/comparison/benchmark_json.hpp"

namespace torchwatch::comparison {

using nlohmann::json;

json benchmark_to_json(const Benchmark& benchmark) {
  return json{{"workload", benchmark.workload},
              {"configuration", to_string(benchmark.configuration)},
              {"variant", to_string(benchmark.variant)}};
}

Result<Benchmark> benchmark_from_json(const json& object) {
  Benchmark benchmark;
  benchmark.workload = object.at("workload").get<std::string>();
  TW_TRY(benchmark.configuration,
         parse_configuration(object.at("configuration").get<std::string>()));
  TW_TRY(benchmark.variant, parse_variant(object.at("variant").get<std::string>()));
  return benchmark;
}

json series_to_json(const Series& series) {
  json object = benchmark_to_json(series.benchmark);
  object["metric"] = to_string(series.metric);
  return object;
}

Result<Series> series_from_json(const json& object) {
  Series series;
  TW_TRY(series.benchmark, benchmark_from_json(object));
  TW_TRY(series.metric, parse_metric(object.at("metric").get<std::string>()));
  return series;
}

}  // namespace torchwatch::comparison
