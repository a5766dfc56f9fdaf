#include <algorithm>
#include <array>
#include <fstream>
#include <regex>

#include "torchwatch/checks/checks.hpp"
#include "torchwatch/platform/folder.hpp"

namespace torchwatch::checks {
namespace {

namespace fs = std::filesystem;

CheckResult result(Severity severity, std::string what, std::string found,
                   std::string remedy = "") {
  return {.severity = severity,
          .what = std::move(what),
          .found = std::move(found),
          .remedy = std::move(remedy)};
}

/// The text behind "NAME:" of the first such line; empty if there is none.
std::string value_in(const fs::path& file, const std::string& name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(name + ":")) continue;
    const auto begin = line.find_first_not_of(" \t", name.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::vector<std::string> models(const fs::path& driver) {
  std::vector<std::string> names;
  for (const auto& gpu : platform::list_folder(driver / "gpus").entries) {
    const auto model = value_in(gpu.path() / "information", "Model");
    names.push_back(model.empty() ? "of an unknown model" : model);
  }
  std::ranges::sort(names);
  return names;
}

/// The number in the line that the driver's module says of itself; all of the line without one.
std::string version_in(const std::string& line) {
  static const std::regex kVersion(R"(\b\d{3,}\.\d+(\.\d+)?\b)");
  std::smatch found;
  return std::regex_search(line, found, kVersion) ? found.str() : line;
}

bool has_cupti(const fs::path& root) {
  constexpr std::array kFolders{"usr/local/cuda/extras/CUPTI/lib64", "usr/local/cuda/lib64",
                                "usr/lib/x86_64-linux-gnu", "usr/lib64"};
  return std::ranges::any_of(kFolders, [&](const char* folder) {
    return std::ranges::any_of(platform::list_folder(root / folder).entries, [](const auto& file) {
      return file.path().filename().string().starts_with("libcupti.so");
    });
  });
}

CheckResult check_cupti(const fs::path& root) {
  if (value_in(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly") == "1") {
    return result(Severity::warning, "CUPTI", "only root may record what a GPU does",
                  "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d");
  }
  if (has_cupti(root)) return result(Severity::good, "CUPTI", "found");
  return result(Severity::unknown, "CUPTI",
                "unknown: not installed here; a CUDA build of LibTorch may bring it");
}

}  // namespace

std::vector<CheckResult> check_gpu(const fs::path& root,
                                   const std::vector<Configuration>& configurations) {
  const bool is_asked = std::ranges::any_of(
      configurations, [](const auto& each) { return each.device == Device::cuda; });
  const auto driver = root / "proc/driver/nvidia";
  const auto none = is_asked ? Severity::error : Severity::good;
  const std::string remedy =
      is_asked ? "install the driver, or take cuda-* out of [suite] configurations" : "";
  std::error_code ignored;
  if (!fs::exists(driver / "version", ignored)) {
    return {result(none, "GPU", "none", remedy), result(none, "GPU driver", "none", remedy),
            result(none, "CUPTI", "none", remedy)};
  }
  std::string names;
  for (const auto& model : models(driver)) names += (names.empty() ? "" : ", ") + model;
  auto gpu =
      names.empty() ? result(none, "GPU", "none", remedy) : result(Severity::good, "GPU", names);
  const auto version = version_in(value_in(driver / "version", "NVRM version"));
  auto of_driver = version.empty()
                       ? result(Severity::unknown, "GPU driver", "unknown: it shows no version")
                       : result(Severity::good, "GPU driver", version);
  return {std::move(gpu), std::move(of_driver), check_cupti(root)};
}

}  // namespace torchwatch::checks
