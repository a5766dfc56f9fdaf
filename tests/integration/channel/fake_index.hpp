#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "zip_maker.hpp"

namespace torchwatch::test {

/// Stands for python3 and the index behind its pip: a shell script that writes down how it was
/// called and copies a wheel by hand-made rules.
class FakeIndex {
 public:
  /// Serves torch 1.2.3, whose libtorch_cpu.so needs libcudart.so.13 and libcupti.so.13, and the
  /// two packages that hold them.
  FakeIndex();

  /// Replaces a wheel: "torch", "nvidia-cuda-runtime" or "nvidia-cuda-cupti".
  void serve(const std::string& package, const std::string& bytes) const;

  std::filesystem::path python() const { return folder_.path() / "python3"; }
  std::filesystem::path cache() const { return folder_.path() / "releases"; }

  /// What was asked of pip, a line each: the requirement, or the command.
  std::vector<std::string> requests() const;
  /// The arguments and the environment of the last call.
  std::string last_call() const;

  /// Everything below the cache, relative, without the lock.
  std::vector<std::string> cached() const;

  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

/// The members of a small torch wheel, without its RECORD.
std::vector<ZipEntry> torch_members(const std::string& version = "1.2.3+cu130");

}  // namespace torchwatch::test
