#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

namespace torchwatch::test {

/// A checkout whose "runner" takes no time to compile, and LibTorch trees that hold just what it
/// needs: real libraries, made by the compiler.
class KitSources {
 public:
  KitSources();

  /// A tree whose library answers `number` and whose header has `header_text` in it.
  std::filesystem::path make_tree(const std::string& name, int number,
                                  const std::string& header_text = "", int cxx11_abi = 1) const;
  /// As planted days have them: links into `base`, but libtorch.so of its own.
  std::filesystem::path make_overlay(const std::string& name, const std::filesystem::path& base,
                                     int number) const;

  /// Makes a tree's libtorch.so anew, linked with `more`.
  void make_libtorch(const std::filesystem::path& tree, int number,
                     const std::vector<std::string>& more) const;
  /// A shared library with that text; `more` are the compiler's other arguments.
  void compile_library(const std::filesystem::path& file, const std::string& text,
                       const std::vector<std::string>& more) const;

  const TemporaryFolder& folder() const { return folder_; }
  std::filesystem::path sources() const { return folder_.path() / "my sources"; }
  std::filesystem::path store() const { return folder_.path() / "kits"; }

 private:
  TemporaryFolder folder_;
};

/// What a program prints. Fails the test where it does not exit with 0.
std::string output_of(const std::filesystem::path& program,
                      const std::vector<std::string>& arguments,
                      const std::string& library_path = "");

}  // namespace torchwatch::test
