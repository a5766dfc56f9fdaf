#include "source_folder.hpp"

#include "torchwatch/daemon/application.hpp"

namespace torchwatch::daemon {

namespace fs = std::filesystem;

fs::path sources_of(const fs::path& program) {
  const auto installed = program.parent_path().parent_path() / "share" / "torchwatch";
  std::error_code ignored;
  return fs::exists(installed / "models" / "workloads.txt", ignored)
             ? installed
             : fs::path(TORCHWATCH_CHECKOUT);
}

fs::path source_folder(const config::Config& config) {
  if (!config.build.kit_sources.empty()) return config.build.kit_sources;
  std::error_code ignored;
  return sources_of(fs::read_symlink("/proc/self/exe", ignored));
}

}  // namespace torchwatch::daemon
