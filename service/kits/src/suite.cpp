#include "torchwatch/kits/suite.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::kits {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kListBytesMax = 4U << 20U;
constexpr std::array kCountedMembers{"params_trainable", "params_all", "param_tensors",
                                     "buffers",          "modules",    "flops_forward_batch1",
                                     "outputs"};
constexpr std::array kConfigurations{"cpu-train", "cpu-infer", "cuda-train", "cuda-infer"};

/// Why the original refuses a configuration; empty if it does not.
std::string refusal_of(const json& workload, const std::string& configuration) {
  const auto& refusals = workload.at("refusals");
  const bool trains = configuration.ends_with("train");
  if (configuration == "cuda-infer" && refusals.contains("cuda_infer")) {
    return refusals["cuda_infer"].get<std::string>();
  }
  return refusals.value(trains ? "train" : "infer", "");
}

void complete(json& workload) {
  for (const auto* name : kCountedMembers) workload[name] = nullptr;
  auto configurations = json::array();
  for (const auto* name : kConfigurations) {
    const auto reason = refusal_of(workload, name);
    configurations.push_back({{"configuration", name},
                              {"supported", reason.empty()},
                              {"reason", reason.empty() ? json(nullptr) : json(reason)}});
  }
  workload.erase("refusals");
  workload["configurations"] = std::move(configurations);
}

bool is_suite(const json& suite) {
  return suite.is_array() && std::ranges::all_of(suite, [](const json& workload) {
           return workload.is_object() && workload.contains("name") &&
                  workload.contains("refusals");
         });
}

}  // namespace

bool lists_workloads(const json& listed) {
  return !listed.is_discarded() && listed.contains("workloads");
}

Result<json> read_suite(const fs::path& sources) {
  const auto file = sources / "models" / "suite.json";
  TW_TRY(const auto text, platform::read_file(file, kListBytesMax));
  auto suite = json::parse(text, nullptr, false);
  if (!is_suite(suite)) {
    return fail(ErrorCode::corrupt, "invalid " + file.string() + ": must be a list of workloads");
  }
  for (auto& workload : suite) complete(workload);
  return suite;
}

json counted_by_kits(const fs::path& folder) {
  fs::file_time_type newest_time;
  json newest;
  for (const auto& kit : platform::list_folder(folder).entries) {
    const auto file = kit.path() / kCountedFile;
    std::error_code missing;
    const auto time = fs::last_write_time(file, missing);
    if (missing || (!newest.is_null() && time < newest_time)) continue;
    const auto text = platform::read_file(file, kListBytesMax);
    auto listed = text ? json::parse(*text, nullptr, false) : json();
    if (!text || !lists_workloads(listed)) continue;
    newest = std::move(listed);
    newest_time = time;
  }
  return newest;
}

void add_counted(json& suite, const json& counted) {
  if (counted.is_null()) return;
  for (auto& workload : suite) {
    for (const auto& item : counted.at("workloads")) {
      if (item.at("name") != workload.at("name")) continue;
      for (const auto* name : kCountedMembers) workload[name] = item.value(name, json());
    }
  }
}

}  // namespace torchwatch::kits
