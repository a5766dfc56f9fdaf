#pragma once

#include "torchwatch/cluster/order.hpp"

namespace torchwatch::test {

inline executor::RunSpec cluster_run(const std::string& attempt) {
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

inline cluster::Order cluster_order(const std::vector<std::string>& attempts) {
  cluster::Order order{.id = attempts.front() + "-1", .block = {}, .settings = {}};
  for (const auto& attempt : attempts) order.block.runs.push_back(cluster_run(attempt));
  return order;
}

/// What a node says of an order that went well.
inline std::string whole_answer(const cluster::Order& order) {
  std::string text = cluster::greeting_line(order, "n1");
  for (const auto& run : order.block.runs) {
    text += cluster::outcome_line(run.request.attempt, believable(run.request.attempt));
  }
  return text + cluster::ended_line(order);
}

}  // namespace torchwatch::test
