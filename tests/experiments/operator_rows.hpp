#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/operators/operator_changes.hpp"

/// What planted_operators.py has written: one case a line.
namespace torchwatch::experiments {

inline operators::Figures figures_of(const nlohmann::json& side) {
  operators::Figures figures;
  for (const auto& [name, of] : side.at("operators").items()) {
    figures[name] = {.calls = of.at("calls"),
                     .self_ns = of.at("self_ns"),
                     .allocated_bytes = of.at("allocated_bytes"),
                     .kept_bytes = of.at("kept_bytes")};
  }
  return figures;
}

/// The pairs of a case. Throws where the row lacks them.
inline std::vector<operators::Pair> pairs_of(const nlohmann::json& row) {
  std::vector<operators::Pair> pairs;
  for (const auto& pair : row.at("pairs")) {
    pairs.push_back({figures_of(pair.at("before")), figures_of(pair.at("after"))});
  }
  return pairs;
}

/// The cases of a file whose pairs could be measured.
inline std::vector<nlohmann::json> measured_cases(const std::string& file) {
  std::vector<nlohmann::json> cases;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    auto row = nlohmann::json::parse(line);
    if (!row.at("pairs").is_null()) cases.push_back(std::move(row));
  }
  return cases;
}

}  // namespace torchwatch::experiments
