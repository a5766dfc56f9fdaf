#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "temporary_folder.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::test {

/// The children that run foreign code.
enum class ForeignChild { recipe, recipe_with_network, kit, run, cuda_run, pip };
inline constexpr std::array kForeignChildren{
    ForeignChild::recipe,   ForeignChild::recipe_with_network,
    ForeignChild::kit,      ForeignChild::run,
    ForeignChild::cuda_run, ForeignChild::pip};
const char* to_string(ForeignChild);

/// Lays out what they work with: builds/own, builds/other, sources, recipe, kit/runner, and
/// writable, which is [sandbox] writable.
void lay_out_for_children(const TemporaryFolder&);

/// Has the service's own parts start such a child, with a Bash script in the place of its program;
/// environment, folder and sandbox are the child's. Returns what the script printed.
std::string printed_by(ForeignChild, const std::filesystem::path& laid_out, const sandbox::Sandbox&,
                       process::ProcessRunner&, const std::string& script);

}  // namespace torchwatch::test
