#include "pip.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/doors/publish.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputBytesMax = 1U << 20U;
constexpr std::size_t kErrorBytesMax = 600;
constexpr const char* kNoConfiguration = "/dev/null";

/// Variables of pip's that say where and how the index is reached, and their names in its file.
constexpr std::array<std::pair<const char*, const char*>, 11> kPassedOn{{
    {"PIP_INDEX_URL", "index-url"},
    {"PIP_EXTRA_INDEX_URL", "extra-index-url"},
    {"PIP_FIND_LINKS", "find-links"},
    {"PIP_NO_INDEX", "no-index"},
    {"PIP_TRUSTED_HOST", "trusted-host"},
    {"PIP_CERT", "cert"},
    {"PIP_CLIENT_CERT", "client-cert"},
    {"PIP_PROXY", "proxy"},
    {"PIP_TIMEOUT", "timeout"},
    {"PIP_DEFAULT_TIMEOUT", "timeout"},
    {"PIP_RETRIES", "retries"},
}};

std::string configuration() {
  std::string text;
  for (const auto& [variable, name] : kPassedOn) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string line(value);
    const bool is_one_line =
        std::ranges::all_of(line, [](char c) { return c >= ' ' || c == '\t'; });
    const bool is_new = text.find("\n" + std::string(name) + " = ") == std::string::npos;
    if (is_one_line && is_new) text += "\n" + std::string(name) + " = " + line;
  }
  return text.empty() ? text : "[global]" + text + "\n";
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable, "cannot make " + folder.string() + ": " + error.message());
}

/// Writes the configuration where nobody else can read it.
Result<std::string> write_configuration(const fs::path& scratch) {
  TW_TRY_VOID(make_folder(scratch / "home"));
  TW_TRY_VOID(make_folder(scratch / "tmp"));
  std::error_code error;
  fs::permissions(scratch, fs::perms::owner_all, error);
  const std::string text = configuration();
  if (error || text.empty()) return std::string(kNoConfiguration);
  TW_TRY_VOID(doors::publish_file(scratch / "pip.conf", text));
  return (scratch / "pip.conf").string();
}

/// pip's own words for what went wrong.
std::string error_lines(const std::string& output) {
  std::string errors;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("ERROR: ") || line.find("Error: ") != std::string::npos)
      errors += "\n" + line;
  }
  if (errors.empty()) errors = "\n" + output;
  return errors.size() <= kErrorBytesMax ? errors : errors.substr(errors.size() - kErrorBytesMax);
}

Error explain(const doors::ProcessOutcome& outcome, const Pip::Settings& settings) {
  const std::string end = doors::describe(outcome.end);
  if (std::holds_alternative<doors::Cancelled>(outcome.end)) {
    return {ErrorCode::cancelled, "pip was stopped"};
  }
  if (std::holds_alternative<doors::TimedOut>(outcome.end)) {
    return {ErrorCode::timed_out,
            "pip did not end within " + std::to_string(settings.time_limit.count()) + " s"};
  }
  if (std::holds_alternative<doors::SpawnFailed>(outcome.end)) {
    return {ErrorCode::unavailable,
            end + "; the wheel index needs " + settings.python + " with pip"};
  }
  const bool is_unknown =
      outcome.output.find("No matching distribution found") != std::string::npos;
  return {is_unknown ? ErrorCode::not_found : ErrorCode::unavailable,
          "pip: " + end + error_lines(outcome.output)};
}

std::vector<fs::path> wheels_in(const fs::path& folder) {
  std::vector<fs::path> wheels;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().extension() == ".whl") wheels.push_back(entry->path());
  }
  return wheels;
}

}  // namespace

std::vector<std::string> parse_versions(const std::string& output) {
  constexpr std::string_view kBegin = "Available versions: ";
  std::vector<std::string> versions;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kBegin)) continue;
    std::istringstream words(line.substr(kBegin.size()));
    for (std::string word; words >> word;) {
      if (word.ends_with(',')) word.pop_back();
      versions.push_back(word);
    }
  }
  return versions;
}

Result<std::string> Pip::run(std::vector<std::string> arguments, std::stop_token stop) {
  std::vector<std::string> all{"-I",         "-m",         "pip",
                               "--isolated", "--no-input", "--disable-pip-version-check"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  auto environment = builds::tool_environment();
  TW_TRY(environment["PIP_CONFIG_FILE"], write_configuration(settings_.scratch));
  environment["HOME"] = settings_.scratch / "home";
  environment["TMPDIR"] = settings_.scratch / "tmp";
  environment["LC_ALL"] = "C.UTF-8";  // its words are looked at
  auto outcome = processes_.run({.program = settings_.python,
                                 .arguments = std::move(all),
                                 .environment = std::move(environment),
                                 .working_folder = settings_.scratch,
                                 .time_limit = settings_.time_limit,
                                 .output_limit_bytes = kOutputBytesMax,
                                 .tag = "pip",
                                 .cpus = {},
                                 .on_started = {}},
                                std::move(stop));
  if (!doors::succeeded(outcome)) return fail(explain(outcome, settings_));
  return std::move(outcome.output);
}

Result<fs::path> Pip::download(const std::string& requirement, const fs::path& folder,
                               std::stop_token stop) {
  TW_TRY_VOID(make_folder(folder));
  TW_TRY_VOID(run({"download", "--no-deps", "--only-binary=:all:", "--no-cache-dir",
                   "--progress-bar", "off", "-d", folder.string(), requirement},
                  std::move(stop)));
  const auto wheels = wheels_in(folder);
  if (wheels.size() == 1) return wheels.front();
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return fail(ErrorCode::unavailable, "pip download " + requirement + " left " +
                                          std::to_string(wheels.size()) + " wheels in " +
                                          folder.string() + " instead of one: try again");
}

Result<std::vector<std::string>> Pip::versions(const std::string& package, std::stop_token stop) {
  TW_TRY(const std::string output, run({"index", "versions", package}, std::move(stop)));
  auto versions = parse_versions(output);
  if (!versions.empty()) return versions;
  return fail(ErrorCode::unavailable,
              "pip index versions " + package + " names no version" + error_lines(output));
}

}  // namespace torchwatch::channel
