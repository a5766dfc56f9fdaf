#include "torchwatch/documents/plan.hpp"

#include <algorithm>
#include <iterator>

#include "torchwatch/documents/vocabulary_json.hpp"

namespace torchwatch::comparison {

using nlohmann::json;

void to_json(json& to, const Plan& plan) {
  to = json{{"preset", plan.preset},
            {"benchmarks", plan.benchmarks},
            {"passes", plan.passes},
            {"threads", plan.threads},
            {"warmup", plan.warmup},
            {"iterations", plan.iterations},
            {"enough_ns", plan.enough_ns},
            {"time_limit_ms", plan.time_limit_ms},
            {"memory_limit_bytes", plan.memory_limit_bytes},
            {"interleave", plan.interleave}};
  if (plan.planted_slowdown > 0) to["planted_slowdown"] = plan.planted_slowdown;
  if (plan.outputs) to["outputs"] = true;
  if (!plan.stated.empty()) to["stated"] = plan.stated;
  if (plan.watched_operators > 0) to["watched_operators"] = plan.watched_operators;
}

void from_json(const json& from, Plan& plan) {
  from.at("preset").get_to(plan.preset);
  from.at("benchmarks").get_to(plan.benchmarks);
  from.at("passes").get_to(plan.passes);
  from.at("threads").get_to(plan.threads);
  from.at("warmup").get_to(plan.warmup);
  from.at("iterations").get_to(plan.iterations);
  from.at("enough_ns").get_to(plan.enough_ns);
  from.at("time_limit_ms").get_to(plan.time_limit_ms);
  from.at("memory_limit_bytes").get_to(plan.memory_limit_bytes);
  from.at("interleave").get_to(plan.interleave);
  plan.planted_slowdown = from.value("planted_slowdown", 0.0);
  plan.outputs = from.value("outputs", false);
  plan.watched_operators = from.value("watched_operators", 0);
  plan.stated.clear();
  if (from.contains("stated")) from.at("stated").get_to(plan.stated);
}

std::vector<Metric> metrics_of(const Plan& plan, const Benchmark& benchmark, Pass pass) {
  if (is_of_operator(benchmark)) {
    return pass == Pass::timing ? std::vector{Metric::time} : std::vector<Metric>{};
  }
  const auto external = plan.stated.find(benchmark.workload);
  const auto& all = external == plan.stated.end()
                        ? judged_metrics_of(benchmark.configuration.device)
                        : external->second;
  std::vector<Metric> metrics;
  std::ranges::copy_if(all, std::back_inserter(metrics), [&](Metric metric) {
    return pass_of(metric) == pass && (metric != Metric::output_difference || plan.outputs);
  });
  return metrics;
}

bool has_pass(const Plan& plan, const Benchmark& benchmark, Pass pass) {
  if (is_of_operator(benchmark)) return pass == Pass::timing;
  return !plan.stated.contains(benchmark.workload) || !metrics_of(plan, benchmark, pass).empty();
}

int series_count(const Plan& plan) {
  int count = plan.watched_operators;
  for (const auto& benchmark : plan.benchmarks) {
    for (const auto pass : {Pass::timing, Pass::memory}) {
      count += static_cast<int>(metrics_of(plan, benchmark, pass).size());
    }
  }
  return count;
}

std::vector<std::string> workloads_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& benchmark : plan.benchmarks) {
    if (std::ranges::find(names, benchmark.workload) == names.end())
      names.push_back(benchmark.workload);
  }
  return names;
}

std::string to_json(const Plan& plan) {
  return stored_text(plan);
}

Result<Plan> parse_plan(std::string_view text) {
  try {
    return json::parse(text).get<Plan>();
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored plan: ") + exception.what());
  }
}

}  // namespace torchwatch::comparison
