#pragma once

#include "torchwatch/orders/order.hpp"

namespace torchwatch::test {

inline executor::RunSpec sample_run(const std::string& attempt) {
  executor::RunSpec run;
  run.request.attempt = attempt;
  run.request.benchmark.workload = "resnet18";
  run.runner = "/kits/runner";
  run.libraries = "/builds/a/lib";
  return run;
}

/// A timing result that can be believed: three samples of a microsecond.
inline RunResult believable(const std::string& attempt) {
  RunResult result;
  result.attempt = attempt;
  result.samples_ns = {1000, 1001, 1002};
  result.values[Metric::time] = 1001;
  return result;
}

inline orders::Order sample_order(const std::vector<std::string>& attempts) {
  orders::Order order{.id = attempts.front() + "-1", .block = {}, .settings = {}};
  for (const auto& attempt : attempts) order.block.runs.push_back(sample_run(attempt));
  return order;
}

/// A build's recipe, with everything that an order of a process carries.
inline process::ProcessSpec recipe() {
  process::ProcessSpec spec{};
  spec.program = "/recipes/cpu";
  spec.arguments = {"a b", ""};
  spec.environment = {{"TORCHWATCH_COMMIT", "abc"}, {"TORCHWATCH_JOBS", "2"}};
  spec.working_folder = "/shared/source";
  spec.time_limit = std::chrono::seconds(90);
  spec.output_limit_bytes = 1000;
  spec.label = "build-abc";
  spec.launcher = {"/usr/bin/bwrap", "--"};
  return spec;
}

/// What a node says of an order that went well.
inline std::string whole_answer(const orders::Order& order) {
  std::string text = orders::greeting_line(order, "n1");
  for (const auto& run : order.block.runs) {
    text += orders::outcome_line(run.request.attempt, believable(run.request.attempt));
  }
  return text + orders::ended_line(order);
}

}  // namespace torchwatch::test
