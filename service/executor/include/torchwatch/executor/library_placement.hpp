#pragma once

#include <filesystem>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::executor {

/// Begins the name of every folder of placed libraries in the scratch folder.
inline constexpr std::string_view kPlacedPrefix = "placed-";

/// A private copy of a build's libraries for one run or one block of runs, removed with this
/// object. The position of a library file in the page cache shifts overhead-bound workloads by up
/// to 7 % for as long as the file stays there, so all runs of one file share a bias; a fresh copy
/// draws it anew. The files that matter (libtorch_cpu, libtorch, libc10, libgomp) are copied. The
/// rest is linked, also what the build has outside lib/ and CUDA libraries that wheels find by
/// ../../nvidia.
class PlacedLibraries {
 public:
  PlacedLibraries(PlacedLibraries&&) noexcept;
  PlacedLibraries& operator=(PlacedLibraries&&) noexcept;
  PlacedLibraries(const PlacedLibraries&) = delete;
  PlacedLibraries& operator=(const PlacedLibraries&) = delete;
  ~PlacedLibraries();

  /// The folder to use in place of the build's lib/ (RunSpec::libraries).
  const std::filesystem::path& folder() const { return folder_; }

 private:
  friend Result<PlacedLibraries> place(const std::filesystem::path&, const std::filesystem::path&);
  explicit PlacedLibraries(std::filesystem::path root) : root_(std::move(root)) {}
  std::filesystem::path root_;  ///< empty once moved from
  std::filesystem::path folder_;
};

/// Copies `libraries` (a build's lib/) into a new folder of `scratch`; about 0.5 s for 450 MB.
/// Errors: not_found (no libtorch_cpu.so), unavailable (too little disk space, naming how much;
/// I/O).
Result<PlacedLibraries> place(const std::filesystem::path& libraries,
                              const std::filesystem::path& scratch);

/// Returns false if both sides load the very same libtorch_cpu.so: they share the bias of its
/// position. Errors: not_found.
Result<bool> needs_placement(const std::filesystem::path& libraries_a,
                             const std::filesystem::path& libraries_b);

}  // namespace torchwatch::executor
