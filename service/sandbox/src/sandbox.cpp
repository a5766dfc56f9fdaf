#include "torchwatch/sandbox/sandbox.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "arguments.hpp"
#include "torchwatch/platform/folder.hpp"

namespace torchwatch::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSystem{
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/alternatives",
    "/sys/class/hwmon",
    "/sys/class/thermal",
    "/sys/devices/platform/coretemp.0",
    "/sys/devices/system",
    "/sys/devices/virtual/thermal",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
};
constexpr std::array kNetwork{
    "/etc/resolv.conf", "/etc/hosts",           "/etc/nsswitch.conf", "/etc/gai.conf",
    "/etc/ssl",         "/etc/ca-certificates", "/etc/pki",
};
constexpr std::array kGpu{"/sys/bus/pci", "/sys/devices", "/sys/module", "/etc/OpenCL"};

/// From strict to lax; the last two are for root where user namespaces are forbidden.
constexpr std::array kVariants{
    Variant{.has_user_namespace = true, .has_own_proc = true},
    Variant{.has_user_namespace = true, .has_own_proc = false},
    Variant{.has_user_namespace = false, .has_own_proc = true},
    Variant{.has_user_namespace = false, .has_own_proc = false},
};
constexpr std::chrono::seconds kTrialLimit{10};
constexpr std::size_t kTrialOutputBytes = 64U << 10U;

std::vector<fs::path> gpu_devices() {
  std::vector<fs::path> devices;
  std::error_code error;
  for (fs::directory_iterator entry("/dev", error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("nvidia")) devices.push_back(entry->path());
  }
  return devices;
}

/// The program's file, looked for as the process's own environment says. A program that is not
/// found stays as it is: starting it reports that.
fs::path program_of(const process::ProcessSpec& spec) {
  const std::string name = spec.program.string();
  if (name.find('/') != std::string::npos) return spec.program;
  const auto path = spec.environment.find("PATH");
  const auto found = process::find_program(
      name, path == spec.environment.end() ? process::kDefaultSearchPath : path->second);
  return found.empty() ? spec.program : fs::path(found);
}

process::ProcessSpec trial() {
  process::ProcessSpec spec{};
  spec.program = "true";
  spec.working_folder = "/tmp";
  spec.time_limit = kTrialLimit;
  spec.output_limit_bytes = kTrialOutputBytes;
  spec.label = "sandbox trial";
  return spec;
}

/// Adds the file and all beside it whose names begin with its name.
void add_with_copies(const fs::path& file, std::vector<fs::path>& files) {
  files.push_back(file);
  const auto name = file.filename().string();
  std::error_code error;
  for (fs::directory_iterator entry(file.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const bool is_copy = entry->path() != file &&
                         entry->path().filename().string().starts_with(name) &&
                         !entry->is_directory(ignored);
    if (is_copy) files.push_back(entry->path());
  }
}

std::vector<fs::path> existing(const std::vector<fs::path>& files) {
  std::vector<fs::path> found;
  View walked;
  for (const auto& file : files) {
    if (auto real = show(walked, file, Access::read); !real.empty()) found.push_back(real);
  }
  return found;
}

std::vector<fs::path> hidden_files(const Settings& settings) {
  auto files = settings.hidden;
  for (const auto& file : settings.hidden_with_copies) {
    std::error_code error;
    const auto real = fs::weakly_canonical(file, error);  // copies lie beside what a link leads to
    add_with_copies(file, files);
    if (!error && real != file) add_with_copies(real, files);
  }
  files = existing(files);
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  return files;
}

View readable_view(const Settings& settings, const Profile& profile) {
  View view;
  for (const char* path : kSystem) show(view, path, Access::read);
  if (profile.has_network) {
    for (const char* path : kNetwork) show(view, path, Access::read);
  }
  if (profile.has_gpu) {
    for (const char* path : kGpu) show(view, path, Access::read);
  }
  for (const auto* paths : {&settings.readable, &profile.readable}) {
    for (const auto& path : *paths) show(view, path, Access::read);
  }
  for (const auto& folder : profile.linked) show_linked(view, folder, settings.link_targets);
  return view;
}

}  // namespace

Result<Sandbox> Sandbox::open(Settings settings, process::ProcessRunner& processes) {
  Sandbox sandbox;
  sandbox.settings_ = std::move(settings);
  auto& targets = sandbox.settings_.link_targets;
  targets.insert(targets.end(), sandbox.settings_.readable.begin(),
                 sandbox.settings_.readable.end());
  sandbox.program_ = process::find_program("bwrap", sandbox.settings_.search_path);
  if (sandbox.program_.empty()) {
    return fail(ErrorCode::unavailable,
                "bwrap is not on PATH: install the package bubblewrap (deploy/prerequisites does)");
  }
  std::string first_reason;
  for (const Variant& variant : kVariants) {
    sandbox.variant_ = variant;
    auto spec = trial();
    TW_TRY_VOID(sandbox.confine(spec, {}));
    const auto outcome = processes.run(spec);
    if (process::succeeded(outcome)) return sandbox;
    if (first_reason.empty()) first_reason = process::describe(outcome.end);
  }
  return fail(ErrorCode::unavailable,
              "bwrap cannot start a program on this machine (" + first_reason +
                  "): allow user namespaces (sysctl user.max_user_namespaces, "
                  "kernel.unprivileged_userns_clone, the container's seccomp profile)");
}

bool Sandbox::shows(const Profile& profile, const fs::path& path) const {
  if (kind() == Kind::none) return true;
  View view = readable_view(settings_, profile);
  View walked;
  const auto real = show(walked, path, Access::read);
  return !real.empty() && std::ranges::any_of(view.mounts, [&](const auto& mount) {
    return platform::lies_in(real, mount.first);
  });
}

Status Sandbox::confine(process::ProcessSpec& spec, const Profile& profile) const {
  if (kind() == Kind::none) return {};
  Demand demand;
  demand.view = readable_view(settings_, profile);
  if (profile.has_gpu) demand.devices = gpu_devices();
  spec.program = program_of(spec);
  show(demand.view, spec.program, Access::read);
  for (const auto& path : profile.writable) {
    if (show(demand.view, path, Access::write).empty()) {
      return fail(ErrorCode::unavailable, "sandbox: there is no " + path.string());
    }
  }
  demand.hidden = hidden_files(settings_);
  demand.working_folder = spec.working_folder;
  demand.has_network = profile.has_network;
  demand.tmp_limit_bytes = profile.tmp_limit_bytes;

  spec.launcher = {program_, "--json-status-fd", std::to_string(process::kLauncherStatus)};
  const auto arguments = arguments_for(demand, variant_);
  spec.launcher.insert(spec.launcher.end(), arguments.begin(), arguments.end());
  spec.launcher.emplace_back("--");
  return {};
}

}  // namespace torchwatch::sandbox
