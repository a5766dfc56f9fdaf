#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::channel {

/// A version as the index writes it ("2.12.1", "2.13.0+cpu"); it becomes part of a path and of a
/// requirement for pip.
bool is_version(const std::string&);

/// The requirement for pip that supplies a small CUDA library which libtorch_cpu.so needs to load
/// (releases.md, "Smallest package set"): "nvidia-cuda-runtime==13.*" for "libcudart.so.13". None
/// for every other library.
std::optional<std::string> package_of(const std::string& library);

struct ReleaseFacts {
  std::string version;  ///< "2.12.1+cu130"
  std::string commit;
};

/// Reads a torch/version.py without running it. Errors: corrupt.
Result<ReleaseFacts> read_version_file(const std::filesystem::path&);

}  // namespace torchwatch::channel
