#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kit_manifest.hpp"
#include "link_set.hpp"

namespace torchwatch::builds {

/// Everything that decides what a kit is made of.
struct KitPlan {
  std::filesystem::path sources;  ///< root of the checkout
  KitManifest manifest;
  std::vector<WorkloadEntry> workloads;
  std::filesystem::path tree;
  LinkSet link;
  bool has_ccache = false;
};

/// Files of a folder in which a kit is made. Its commands name nothing but what lies in it: `own`
/// is a link to the sources, `tree` one to the LibTorch tree, so no path of a user's ever stands
/// in a command line, and a compiler cache knows files again whose trees lie elsewhere.
inline constexpr const char* kOwnLink = "own";
inline constexpr const char* kTreeLink = "tree";
inline constexpr const char* kClosureSource = "closure.cpp";

/// Lays out links, the table of workloads, the precompiled header's text, build.ninja, and
/// closure.cpp: one file that reaches every header that a file of the kit reaches.
Status lay_out_kit_folder(const std::filesystem::path& folder, const KitPlan&);

/// The compiler's flags, for a compiler that works in the folder.
std::vector<std::string> compile_flags(const KitPlan&);

/// The text of the table of workloads.
std::string table_of(const KitPlan&);

/// Removes what only making the kit needed.
Status clean_kit_folder(const std::filesystem::path& folder, const KitPlan&);

}  // namespace torchwatch::builds
