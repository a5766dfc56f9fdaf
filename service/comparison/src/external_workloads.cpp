#include "torchwatch/comparison/external_workloads.hpp"

#include <algorithm>
#include <system_error>

#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::comparison {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t kFileBytesMax = 64U << 20U;

bool has(const std::vector<Mode>& modes, Mode mode) {
  return std::ranges::find(modes, mode) != modes.end();
}

/// What tells a file from one that took its place. Large ones are not read before each run.
Result<std::string> mark_of(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto changed = fs::last_write_time(path, error);
  if (error) return fail(ErrorCode::unavailable, "cannot read " + path.string());
  if (size > kFileBytesMax) {
    return std::to_string(size) + " bytes of " + std::to_string(changed.time_since_epoch().count());
  }
  TW_TRY(const auto content, platform::read_file(path, kFileBytesMax));
  return digest::sha256_hex(content);
}

json configurations_of(const config::ExternalWorkload& workload) {
  auto list = json::array();
  for (const auto device : {Device::cpu, Device::cuda}) {
    for (const auto mode : {Mode::train, Mode::infer}) {
      const bool is_there = device == workload.device && has(workload.modes, mode);
      list.push_back({{"configuration", to_string(Configuration{device, mode})},
                      {"supported", is_there},
                      {"reason", is_there ? json() : json("[[suite.external]] does not name it")}});
    }
  }
  return list;
}

/// Builds of commits note it themselves; nothing is written to what lies outside the cache.
void note_use_of_release(const builds::Tree& tree, const config::Config& config) {
  const auto releases = platform::without_links(config.build.cache / "releases");
  if (platform::lies_in(platform::without_links(tree.folder), releases)) {
    builds::note_use(tree.folder);
  }
}

/// "python3 mymodel.py": the files that a command names, without their folders. What else it says
/// is nobody's who only looks at the suite.
std::string files_of(const std::vector<std::string>& command) {
  std::string text;
  for (const auto& word : command) {
    if (!word.starts_with('/')) continue;
    text += (text.empty() ? "" : " ") + fs::path(word).filename().string();
  }
  return text;
}

}  // namespace

const config::ExternalWorkload* external_workload(const config::Config& config,
                                                  const std::string& name) {
  const auto& all = config.suite.externals;
  const auto found = std::ranges::find(all, name, &config::ExternalWorkload::name);
  return found == all.end() ? nullptr : &*found;
}

bool is_measured_in(const config::Config& config, const std::string& workload,
                    Configuration configuration) {
  const auto* external = external_workload(config, workload);
  if (external == nullptr) return true;
  return external->device == configuration.device && has(external->modes, configuration.mode);
}

Result<std::vector<std::string>> with_externals(const config::Config& config,
                                                std::vector<std::string> names) {
  for (const auto& external : config.suite.externals) {
    if (std::ranges::find(names, external.name) != names.end()) {
      return fail(
          ErrorCode::invalid,
          "[[suite.external]] name \"" + external.name + "\" is that of a workload of the suite",
          "choose another name");
    }
    names.push_back(external.name);
  }
  return names;
}

void add_externals(json& suite, const config::Config& config) {
  for (const auto& external : config.suite.externals) {
    auto item = json::object({{"name", external.name},
                              {"domain", "external"},
                              {"task", files_of(external.command)},
                              {"train_batch", 0},
                              {"eval_batch", 0},
                              {"configurations", configurations_of(external)}});
    for (const char* counted : {"params_trainable", "params_all", "param_tensors", "buffers",
                                "modules", "flops_forward_batch1", "outputs"}) {
      item[counted] = nullptr;
    }
    suite.push_back(std::move(item));
  }
}

executor::ExternalCommand command_of(const config::ExternalWorkload& workload) {
  return {.words = workload.command, .readable = workload.readable};
}

Result<std::string> fingerprint(const config::ExternalWorkload& workload) {
  std::string text;
  for (const auto& word : workload.command) {
    text += word + '\n';
    std::error_code ignored;
    if (!word.starts_with('/') || !fs::is_regular_file(word, ignored)) continue;
    TW_TRY(const auto mark, mark_of(word));
    text += mark + '\n';
  }
  return digest::sha256_hex(text);
}

Result<kits::Kit> SuiteRunners::kit_for(const builds::Tree& tree,
                                        const std::vector<std::string>& workloads,
                                        std::stop_token stop) {
  std::vector<std::string> compiled;
  std::ranges::copy_if(workloads, std::back_inserter(compiled), [&](const std::string& name) {
    return external_workload(config_, name) == nullptr;
  });
  note_use_of_release(tree, config_);
  if (compiled.empty() && !workloads.empty()) return kits::Kit{.runner = {}, .key = "external"};
  return kits_.kit_for(tree, compiled, std::move(stop));
}

Result<std::vector<std::string>> SuiteRunners::workloads() const {
  TW_TRY(auto names, kits_.workloads());
  return with_externals(config_, std::move(names));
}

}  // namespace torchwatch::comparison
