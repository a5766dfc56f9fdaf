#pragma once

#include <filesystem>
#include <fstream>

#include "file_content.hpp"
#include "order_fixture.hpp"
#include "temporary_folder.hpp"

namespace torchwatch::test {

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// The service's machine with two builds that share a library, a kit, and CUDA beside one of them.
struct CopiedMachine : TemporaryFolder {
  CopiedMachine() {
    for (const char* const build : {"a", "b"}) {
      write_file(path() / build / "torch/lib/libtorch.so", std::string("torch of ") + build);
      write_file(path() / build / "torch/lib/libgomp.so.1", "gomp");
      write_file(path() / build / "torch/lib/libtorch.a", "not loaded");
      std::filesystem::create_symlink("libgomp.so.1", path() / build / "torch/lib/libgomp.so");
    }
    write_file(path() / "a/nvidia/cublas/lib/libcublas.so.13", "cublas");
    write_file(path() / "a/nvidia/cublas/include/cublas.h", "not loaded");
    write_file(path() / "kits/1/runner", "runner");
  }
  executor::RunBlock block() const {
    executor::RunBlock block{.is_in_pairs = true};
    for (const char* const build : {"a", "b"}) {
      block.runs.push_back(sample_run(build));
      block.runs.back().libraries = path() / build / "torch/lib";
      block.runs.back().runner = path() / "kits/1/runner";
    }
    return block;
  }
  std::filesystem::path scratch() const { return path() / "scratch"; }
};

}  // namespace torchwatch::test
