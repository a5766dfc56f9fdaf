#pragma once

#include <filesystem>

#include "torchwatch/records/error.hpp"

namespace torchwatch::executor {

/// A private copy of a build's libraries, for one run or one block of runs. Where a library file
/// lies in the page cache shifts overhead-bound workloads by up to 7 % for as long as the file
/// stays there, so runs of one file share a bias; a fresh copy draws it anew (releases.md 3).
/// Files that dominate (libtorch_cpu, libtorch, libc10, libgomp) are copied, the rest is linked,
/// also what the build has beside lib/ and CUDA libraries that wheels find by ../../nvidia.
/// Removed with this object.
class PlacedLibraries {
 public:
  PlacedLibraries(PlacedLibraries&&) noexcept;
  PlacedLibraries& operator=(PlacedLibraries&&) noexcept;
  PlacedLibraries(const PlacedLibraries&) = delete;
  PlacedLibraries& operator=(const PlacedLibraries&) = delete;
  ~PlacedLibraries();

  /// To be used in place of the build's lib/ (RunOrder::libraries).
  const std::filesystem::path& folder() const { return folder_; }

 private:
  friend Result<PlacedLibraries> place(const std::filesystem::path&, const std::filesystem::path&);
  explicit PlacedLibraries(std::filesystem::path root) : root_(std::move(root)) {}
  std::filesystem::path root_;  ///< empty once moved from
  std::filesystem::path folder_;
};

/// Copies `libraries` (a build's lib/) into a new folder of `scratch`; about 0.5 s for 450 MB.
/// Errors: not_found (no libtorch_cpu.so), unavailable (too little room, naming how much; I/O).
Result<PlacedLibraries> place(const std::filesystem::path& libraries,
                              const std::filesystem::path& scratch);

/// False when both sides load the very same libtorch_cpu.so, as builds of one planted day do: they
/// share whatever bias its place has. Errors: not_found.
Result<bool> needs_placement(const std::filesystem::path& libraries_a,
                             const std::filesystem::path& libraries_b);

}  // namespace torchwatch::executor
