#include "torchwatch/nightly/plan.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cell_json.hpp"

namespace torchwatch::nightly {

using nlohmann::json;

Plan make_plan(const config::Config& config, const std::vector<std::string>& workloads,
               const std::vector<Configuration>& configurations) {
  Plan plan;
  plan.preset = config.suite.preset;
  plan.threads = config.measure.threads;
  plan.warmup = config.measure.warmup;
  plan.iterations = config.measure.iterations;
  plan.enough_ns = std::chrono::nanoseconds(config.measure.enough).count();
  plan.time_limit_ms = std::chrono::milliseconds(config.measure.time_limit).count();
  plan.memory_limit_bytes = config.measure.memory_limit_bytes;
  plan.take_turns = config.measure.take_turns;
  for (const auto& workload : workloads) {
    for (const auto configuration : configurations) {
      for (const auto& variant : config.suite.variants) {
        plan.cells.push_back(Cell{workload, configuration, variant});
      }
    }
  }
  return plan;
}

protocol::Request request_for(const Plan& plan, const Cell& cell, Pass pass) {
  protocol::Request request;
  request.cell = cell;
  if (request.cell.variant.threads == 0) request.cell.variant.threads = plan.threads;
  request.pass = pass;
  request.preset = plan.preset;
  request.warmup = plan.warmup;
  request.iterations = plan.iterations;
  request.enough_ns = plan.enough_ns;
  request.iterations_min = std::min(plan.iterations, request.iterations_min);
  request.limits.time_ms = plan.time_limit_ms;
  request.limits.memory_bytes = plan.memory_limit_bytes;
  return request;
}

bool takes_turns(const Plan& plan, const Cell& cell, Pass pass) {
  return plan.take_turns && pass == Pass::timing && cell.configuration.device == Device::cpu;
}

std::vector<std::string> workloads_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& cell : plan.cells) {
    if (std::ranges::find(names, cell.workload) == names.end()) names.push_back(cell.workload);
  }
  return names;
}

std::string to_json(const Plan& plan) {
  json passes = json::array();
  for (const auto pass : plan.passes) passes.push_back(to_string(pass));
  json cells = json::array();
  for (const auto& cell : plan.cells) cells.push_back(cell_to_json(cell));
  return json{{"preset", to_string(plan.preset)},
              {"cells", cells},
              {"passes", passes},
              {"threads", plan.threads},
              {"warmup", plan.warmup},
              {"iterations", plan.iterations},
              {"enough_ns", plan.enough_ns},
              {"time_limit_ms", plan.time_limit_ms},
              {"memory_limit_bytes", plan.memory_limit_bytes},
              {"take_turns", plan.take_turns},
              {"finds_incidents", plan.finds_incidents},
              {"rechecks", plan.rechecks},
              {"of_cells", plan.of_cells},
              {"nightlies_back", plan.nightlies_back}}
      .dump();
}

Result<Plan> parse_plan(std::string_view text) {
  try {
    const auto object = json::parse(text);
    Plan plan;
    TW_TRY(plan.preset, parse_preset(object.at("preset").get<std::string>()));
    for (const auto& item : object.at("cells")) {
      TW_TRY(Cell cell, cell_from_json(item));
      plan.cells.push_back(std::move(cell));
    }
    plan.passes.clear();
    for (const auto& item : object.at("passes")) {
      TW_TRY(const Pass pass, parse_pass(item.get<std::string>()));
      plan.passes.push_back(pass);
    }
    object.at("threads").get_to(plan.threads);
    object.at("warmup").get_to(plan.warmup);
    object.at("iterations").get_to(plan.iterations);
    object.at("enough_ns").get_to(plan.enough_ns);
    object.at("time_limit_ms").get_to(plan.time_limit_ms);
    object.at("memory_limit_bytes").get_to(plan.memory_limit_bytes);
    object.at("finds_incidents").get_to(plan.finds_incidents);
    plan.take_turns = object.value("take_turns", false);
    plan.rechecks = object.value("rechecks", std::int64_t{0});
    plan.of_cells = object.value("of_cells", 0);
    plan.nightlies_back = object.value("nightlies_back", 0);
    return plan;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored plan: ") + exception.what());
  }
}

}  // namespace torchwatch::nightly
