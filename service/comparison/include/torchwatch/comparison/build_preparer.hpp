#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "torchwatch/comparison/run_recorder.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

/// Returns the row of a build with what its tree says.
storage::BuildRow described(storage::BuildRow, const builds::Tree&,
                            const std::string& trunk_commit);

/// Marks the build as ready with what its tree says of itself and the commit of [source] that it
/// was built from. Errors: of storage.
Result<storage::BuildRow> mark_ready(Services&, storage::BuildRow, const builds::Tree&,
                                     const std::string& trunk_commit);

/// What a commit counts as whose build gets no runner, as none compiles against it.
enum class WithoutRunner { failed, unbuildable };

/// Makes builds measurable: stores them as ready and gets runners that fit. Not thread-safe.
class BuildPreparer {
 public:
  BuildPreparer(Services& services, std::vector<std::string> workloads)
      : services_(services), workloads_(std::move(workloads)) {}

  /// Prepares a tree on disk. Errors: of storage, of the kits, cancelled.
  Result<MeasurableBuild> of_tree(storage::BuildOrigin, const std::string& name,
                                  const builds::Tree&, const std::string& trunk_commit,
                                  std::stop_token stop);

  /// Builds a commit with the user's recipe, unless somebody else has made it and may, and prepares
  /// it. Errors: invalid (no recipe is configured), of the recipe, of storage, of the kits (as
  /// `without` says), cancelled.
  Result<std::variant<MeasurableBuild, builds::Unbuildable>> of_commit(
      const std::string& commit, const std::optional<builds::Tree>& base, std::stop_token stop,
      builds::Maker maker = builds::Maker::anybody, WithoutRunner without = WithoutRunner::failed);

 private:
  Result<storage::Id> store_ready(storage::BuildOrigin, const std::string& name,
                                  const builds::Tree&, const std::string& trunk_commit);

  Services& services_;
  std::vector<std::string> workloads_;
};

}  // namespace torchwatch::comparison
