#pragma once

#include "torchwatch/packages/package_store.hpp"

namespace torchwatch::packages {

/// The file in which the program that compiles answers, and its package.
inline constexpr const char* kAnswerFile = "package.json";
inline constexpr const char* kPackageFile = "package.pt2";

/// Has the runner write a workload's graph into a folder, and the build's AOTInductor make a
/// package of it there. The folder belongs to foreign code from then on: what it holds may be
/// links. Errors: as PackageStore::package_for.
Result<Outcome> make_package(const PackageStore::Settings&, const Wanted&,
                             const std::filesystem::path& folder, process::ProcessRunner&,
                             std::stop_token stop);

}  // namespace torchwatch::packages
