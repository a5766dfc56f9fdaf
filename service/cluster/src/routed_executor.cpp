#include "torchwatch/cluster/routed_executor.hpp"

#include <algorithm>
#include <utility>

namespace torchwatch::cluster {
namespace {

bool measures(const RoutedExecutor::Route& route, Configuration configuration) {
  const auto& all = route.configurations;
  return all.empty() || std::ranges::find(all, configuration) != all.end();
}

/// With several classes an error says of which one it is.
template <typename T>
Result<T> of_class(const RoutedExecutor::Route& route, Result<T> result) {
  if (result || route.machine_class.empty()) return result;
  return fail(result.error().within("class " + route.machine_class));
}

}  // namespace

RoutedExecutor::RoutedExecutor(std::vector<Route> routes)
    : routes_(std::move(routes)), newest_(routes_.front().executor) {}

Result<const RoutedExecutor::Route*> RoutedExecutor::route_of(const executor::RunSpec& spec) {
  const auto configuration = spec.request.benchmark.configuration;
  const auto route = std::ranges::find_if(
      routes_, [&](const Route& each) { return measures(each, configuration); });
  if (route == routes_.end()) {
    return fail(ErrorCode::invalid,
                to_string(configuration) + " is in no [[slurm.class]], so no node measures it",
                "add it to the configurations of a class");
  }
  newest_ = route->executor;
  return &*route;
}

Result<executor::RunOutcome> RoutedExecutor::run(const executor::RunSpec& spec,
                                                 std::stop_token stop) {
  TW_TRY(const auto* route, route_of(spec));
  return of_class(*route, route->executor->run(spec, std::move(stop)));
}

Result<std::array<executor::RunOutcome, 2>> RoutedExecutor::run_pair(
    std::array<executor::RunSpec, 2> specs, std::stop_token stop) {
  TW_TRY(const auto* route, route_of(specs.front()));
  return of_class(*route, route->executor->run_pair(std::move(specs), std::move(stop)));
}

Result<std::vector<executor::RunOutcome>> RoutedExecutor::run_block(executor::RunBlock block,
                                                                    std::stop_token stop) {
  TW_TRY(const auto* route, route_of(block.runs.front()));
  return of_class(*route, route->executor->run_block(std::move(block), std::move(stop)));
}

}  // namespace torchwatch::cluster
