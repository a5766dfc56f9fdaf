#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "tool_run.hpp"
#include "torchwatch/kits/kit_store.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::kits {

/// Describes what compiles and links a kit: the first line of `g++ --version`, and how
/// cmake/LibTorch.cmake links programs with the tree (the C++ ABI, the libraries), without any
/// path. Takes a fraction of a second. Errors: as of run_tool; invalid (a tree that programs cannot
/// be linked with).
Result<std::string> toolchain_for(const builds::Tree&, const KitStore::Settings&,
                                  process::ProcessRunner&, const std::stop_token& stop);

/// A folder in which CMake and ninja build kits for one tree from runner/kit; removed
/// with the object. The links `own` (the checkout) and `tree` (the LibTorch tree) lie in it, so
/// that every path in a command is one of the folder's: a compiler cache knows files again whose
/// trees and checkouts lie elsewhere. The caller holds the store's lock.
class KitBuild {
 public:
  static Result<KitBuild> begin(const KitStore::Settings&, process::ProcessRunner&,
                                const builds::Tree&, std::string toolchain);

  /// The key of the kit with those workloads: hash of the toolchain, of every command of the build
  /// and of the names and contents of all files that the sources reach, in the tree, in the
  /// checkout and in the system. LibTorch's version.h is left out, as it differs between builds
  /// that are otherwise equal. Takes a few seconds. Errors: as of run_tool (a header is missing).
  Result<std::string> key_with(const std::vector<std::string>& workloads,
                               const std::stop_token& stop) const;

  /// Compiles the runner and publishes it with `kit.json` and a link to the tree in the folder of
  /// `kit.runner`. Errors: as of run_tool (it does not compile).
  Status compile(const std::vector<std::string>& workloads, const Kit& kit,
                 const std::stop_token& stop) const;

 private:
  KitBuild(const KitStore::Settings&, process::ProcessRunner&, platform::PartialFolder&& making,
           std::filesystem::path tree, std::string toolchain);

  Status configure(const std::vector<std::string>& workloads, const std::stop_token& stop) const;
  Result<std::string> commands(const std::stop_token& stop) const;
  Status publish(const std::vector<std::string>& workloads, const Kit& kit) const;
  ToolRun tool(const std::string& program, std::vector<std::string> arguments) const;

  const KitStore::Settings& settings_;
  process::ProcessRunner& processes_;
  platform::PartialFolder making_;
  std::filesystem::path tree_;
  std::string toolchain_;
};

}  // namespace torchwatch::kits
