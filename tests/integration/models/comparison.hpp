#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/models/registry.hpp"

namespace torchwatch::tests {

/// Prints each difference between a workload's figures and its original's, and counts them.
class Differences {
 public:
  /// `original` null: not known, or not the same from version to version.
  void expect(const std::string& what, const nlohmann::json& ours, const nlohmann::json& original);
  /// Reports a difference of more than `limit`; NaN always differs.
  void expect_near(const std::string& what, double ours, double original, double limit);
  int count() const { return count_; }

 private:
  int count_ = 0;
};

using Compare = void (*)(const models::Definition&, const nlohmann::json& original, Differences&);

/// The main function of a program that takes the name of a workload and compares it with its entry
/// in `file` under "originals". Returns 0 without a difference, 1 with one, 2 for wrong use.
int compare_with_original(int argc, char** argv, const char* file, Compare compare);

}  // namespace torchwatch::tests
