#include "libtorch_program.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/platform/folder.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

/// The program prints a list of at most 8 MiB.
constexpr std::size_t kOutputBytesMax = 16U << 20U;
/// More than servers take of an address; the kernel takes 128 KiB, and names no variable.
constexpr std::size_t kVariableBytesMax = 8U << 10U;
constexpr std::size_t kLastWordsMax = 400;
/// Exit statuses of the program, as its head lists them.
constexpr int kNotOffered = 3;
constexpr int kDamaged = 4;
constexpr int kCannotBeBuilt = 5;
constexpr int kUnsuitable = 6;

/// pip's settings that say where the index is and how it is reached. It sees no others, as they
/// might be for another purpose (PIP_REQUIRE_VIRTUALENV, PIP_TARGET).
constexpr std::array kIndexSettings{
    "PIP_INDEX_URL",   "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS",
    "PIP_NO_INDEX",    "PIP_TRUSTED_HOST",    "PIP_CERT",
    "PIP_CLIENT_CERT", "PIP_PROXY",           "PIP_TIMEOUT",
    "PIP_RETRIES",     "PIP_DEFAULT_TIMEOUT",
};

std::string without_end_of_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

/// Returns the error that the program reports at its end, without "error: "; else an empty text.
std::string error_in(const std::string& output) {
  constexpr std::string_view kMark = "\nerror: ";
  const std::string lines = "\n" + output;
  const auto at = lines.rfind(kMark);
  if (at == std::string::npos) return {};
  return without_end_of_line(lines.substr(at + kMark.size()));
}

std::string last_words(const std::string& output) {
  const auto from = output.size() - std::min(output.size(), kLastWordsMax);
  return without_end_of_line(output.substr(from));
}

/// The paths and file:// addresses in one of pip's settings.
void add_folders(const std::string& setting, std::vector<fs::path>& folders) {
  constexpr std::string_view kScheme = "file://";
  std::istringstream words(setting);
  for (std::string word; words >> word;) {
    if (word.starts_with(kScheme)) word.erase(0, kScheme.size());
    if (word.starts_with('/')) folders.emplace_back(word);
  }
}

ErrorCode code_of(int status) {
  if (status == kNotOffered) return ErrorCode::not_found;
  if (status == kCannotBeBuilt) return ErrorCode::invalid;
  const bool is_useless = status == kDamaged || status == kUnsuitable;
  return is_useless ? ErrorCode::corrupt : ErrorCode::unavailable;
}

std::map<std::string, std::string> environment_with(
    const std::map<std::string, std::string>& more) {
  auto environment = builds::tool_environment();
  for (const char* name : kIndexSettings) {
    if (const char* value = std::getenv(name); value != nullptr) environment[name] = value;
  }
  environment.insert(more.begin(), more.end());
  environment["PIP_CONFIG_FILE"] = "/dev/null";
  environment["NETRC"] = "/dev/null";
  environment["LC_ALL"] = "C.UTF-8";
  return environment;
}

Status check_lengths(const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables) {
    if (value.size() <= kVariableBytesMax) continue;
    return fail(ErrorCode::unavailable, "what the configuration says for " + name + " has " +
                                            std::to_string(value.size()) + " bytes, more than " +
                                            std::to_string(kVariableBytesMax) +
                                            ": shorten that address");
  }
  return {};
}

}  // namespace

void add_extent(Extent extent, const fs::path& folder, std::vector<std::string>& arguments) {
  arguments.emplace_back(extent.for_cuda ? "--cuda" : "--all-libraries");
  if (extent.with_python) arguments.emplace_back("--python");
  if (extent.for_cuda) arguments.insert(arguments.end(), {"--shared-with", folder.string()});
}

Status move_up(const fs::path& from) {
  const auto folder = from.parent_path();
  std::error_code error;
  for (const auto& entry : platform::list_folder(folder).entries) {
    if (entry.path() != from) fs::remove_all(entry.path(), error);
  }
  for (const auto& entry : platform::list_folder(from).entries) {
    if (!error) fs::rename(entry.path(), folder / entry.path().filename(), error);
  }
  if (!error) fs::remove(from, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable, "cannot arrange " + folder.string() + ": " + error.message());
}

Result<std::string> LibtorchProgram::run(std::vector<std::string> arguments,
                                         const std::map<std::string, std::string>& more,
                                         std::stop_token stop) const {
  TW_TRY_VOID(check_lengths(more));
  std::error_code error;
  if (!fs::exists(settings_.program, error)) {
    return fail(ErrorCode::unavailable, "there is no " + settings_.program.string() +
                                            ": [build] kit_sources must be a whole checkout");
  }
  fs::create_directories(settings_.folder, error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "cannot make " + settings_.folder.string() + ": " + error.message());
  }
  arguments.insert(arguments.begin(), {"-I", settings_.program.string()});
  process::ProcessSpec spec{.program = settings_.python,
                            .arguments = std::move(arguments),
                            .environment = environment_with(more),
                            .working_folder = settings_.folder,
                            .time_limit = settings_.time_limit,
                            .output_limit_bytes = kOutputBytesMax,
                            .label = "libtorch",
                            .cpus = {},
                            .on_started = {}};
  spec.environment["TORCHWATCH_DISK_RESERVE"] = std::to_string(settings_.disk_reserve_bytes);
  TW_TRY_VOID(builds::confine_tool(settings_.sandbox, spec, profile_for(spec)));
  auto outcome = processes_.run(spec, std::move(stop));
  if (!process::succeeded(outcome)) return fail(explain(outcome));
  return std::move(outcome.output);
}

/// The program and the modules beside it are read, and folders that serve as an index.
sandbox::Profile LibtorchProgram::profile_for(const process::ProcessSpec& spec) const {
  sandbox::Profile profile;
  profile.has_network = true;
  profile.readable = settings_.readable;
  profile.readable.push_back(settings_.program.parent_path());
  profile.writable.push_back(settings_.folder);
  for (const char* name : kIndexSettings) {
    if (const auto value = spec.environment.find(name); value != spec.environment.end()) {
      add_folders(value->second, profile.readable);
    }
  }
  return profile;
}

Error LibtorchProgram::explain(const process::ProcessOutcome& outcome) const {
  if (std::holds_alternative<process::Cancelled>(outcome.end)) {
    return {ErrorCode::cancelled, "stopped"};
  }
  if (std::holds_alternative<process::TimedOut>(outcome.end)) {
    return {ErrorCode::timed_out, "not done within " +
                                      std::to_string(settings_.time_limit.count()) +
                                      " s: is the package index slow?"};
  }
  const std::string end = process::describe(outcome.end);
  if (std::holds_alternative<process::SpawnFailed>(outcome.end)) {
    return {ErrorCode::unavailable, end + ": install " + settings_.python + " with pip"};
  }
  const auto* const exited = std::get_if<process::Exited>(&outcome.end);
  const std::string text = error_in(outcome.output);
  if (exited != nullptr && !text.empty()) return {code_of(exited->code), text};
  return {ErrorCode::unavailable,
          settings_.program.string() + ": " + end + "\n" + last_words(outcome.output)};
}

}  // namespace torchwatch::channel
