#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "torchwatch/nightly/run_maker.hpp"
#include "torchwatch/nightly/workshop.hpp"

namespace torchwatch::nightly {

/// Makes builds measurable: known to the database, checked, with a runner that fits.
class Subjects {
 public:
  Subjects(Workshop& workshop, std::vector<std::string> workloads)
      : workshop_(workshop), workloads_(std::move(workloads)) {}

  /// A tree that lies somewhere.
  Result<Subject> of_tree(storage::BuildOrigin, const std::string& name, const builds::Tree&,
                          const std::string& trunk_commit, std::stop_token stop);

  /// The build of a commit by the user's recipe.
  Result<std::variant<Subject, builds::Unbuildable>> of_commit(
      const std::string& commit, const std::optional<builds::Tree>& base, std::stop_token stop);

 private:
  Workshop& workshop_;
  std::vector<std::string> workloads_;
};

}  // namespace torchwatch::nightly
