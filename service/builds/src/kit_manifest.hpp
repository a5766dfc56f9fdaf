#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// What runner/kit/manifest.json says. Paths are relative to the root of the sources.
struct KitManifest {
  std::vector<std::string> plain_sources;     ///< folders whose .cpp are compiled as they are
  std::vector<std::string> libtorch_sources;  ///< folders whose .cpp use the precompiled header
  std::string workloads;                      ///< the list of workloads
  std::string workload_folder;                ///< where the files named there lie
  std::vector<std::string> include;
  std::string precompiled_header;
  std::string table_file;
  std::string table_line;  ///< with @NAME@ in it
  std::vector<std::string> compile;
  std::vector<std::string> link;
  std::string executable;
};

/// Errors: not_found, invalid (which member). Values end up in command lines: those that hold more
/// than letters, digits and plain signs are refused.
Result<KitManifest> read_kit_manifest(const std::filesystem::path& sources);

struct WorkloadEntry {
  std::string name;
  std::string file;  ///< below the workload folder
};

/// The lines `name file` of the list. Errors: not_found, invalid (which line).
Result<std::vector<WorkloadEntry>> read_workload_list(const std::filesystem::path&);

/// Those with the given names, each once, in the list's order. Errors: invalid (none named; a name
/// that is not in the list, with the ones near to it).
Result<std::vector<WorkloadEntry>> choose_workloads(const std::vector<WorkloadEntry>& list,
                                                    const std::vector<std::string>& names);

}  // namespace torchwatch::builds
