#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/platform/failpoint.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputBytesMax = 1U << 20U;
constexpr std::size_t kLastWordsMax = 400;
constexpr std::size_t kVersionLettersMax = 64;

/// Exit statuses of the program, as its head lists them.
constexpr int kNotOffered = 3;
constexpr int kDamaged = 4;

/// pip's settings that say where the index is and how it is reached. It sees no others, as they
/// might be for another purpose (PIP_REQUIRE_VIRTUALENV, PIP_TARGET).
constexpr std::array kIndexSettings{
    "PIP_INDEX_URL",   "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS",
    "PIP_NO_INDEX",    "PIP_TRUSTED_HOST",    "PIP_CERT",
    "PIP_CLIENT_CERT", "PIP_PROXY",           "PIP_TIMEOUT",
    "PIP_RETRIES",     "PIP_DEFAULT_TIMEOUT",
};

/// A version as the index writes it ("2.12.1", "2.13.0+cpu"): it becomes part of a path and an
/// argument of a program.
bool is_version(const std::string& text) {
  static constexpr const char* kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+!_-";
  return !text.empty() && text.size() <= kVersionLettersMax && text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of(kLetters) == std::string::npos &&
         text.find("..") == std::string::npos;
}

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
  return status == kDamaged ? ErrorCode::corrupt : ErrorCode::unavailable;
}

class WheelIndexChannel final : public Channel {
 public:
  WheelIndexChannel(WheelIndexSettings settings, process::ProcessRunner& processes)
      : settings_(std::move(settings)), processes_(processes) {
    settings_.cache = fs::absolute(settings_.cache);
  }

  Result<std::vector<std::string>> list(std::stop_token stop) override {
    auto output = run({"--list"}, std::move(stop));
    if (!output) return fail(output.error().within("cannot list the releases of PyTorch"));
    std::vector<std::string> versions;
    std::istringstream lines(*output);
    for (std::string line; std::getline(lines, line);) {
      if (is_version(line)) versions.push_back(line);
    }
    return versions;
  }

  Result<builds::Tree> fetch(const std::string& version, std::stop_token stop) override {
    if (!is_version(version)) {
      return fail(ErrorCode::not_found,
                  "invalid release \"" + version + "\": must be a version such as 2.13.0");
    }
    const std::scoped_lock one_at_a_time(fetching_);
    const fs::path tree = settings_.cache / version / "torch";
    if (auto there = builds::inspect(tree)) return there;
    TW_TRY(const auto lock, builds::FolderLock::acquire(settings_.cache));
    if (auto made = make(version, tree, std::move(stop)); !made) {
      return fail(made.error().within("cannot fetch PyTorch " + version));
    }
    return builds::inspect(tree);
  }

 private:
  /// Lets the program put the release into `tree`. It publishes the tree whole or not at all.
  Status make(const std::string& version, const fs::path& tree, std::stop_token stop) {
    std::error_code ignored;
    fs::remove_all(tree, ignored);  // there, but damaged
    auto done = run({"--version", version, "--exact", "--all-libraries", "--into", tree.string()},
                    std::move(stop));
    if (!done) {
      fs::remove_all(fs::path(tree) += ".partial", ignored);  // it was killed
      return fail(done.error());
    }
    TW_TRY_VOID(platform::failpoint("channel.after_fetch_published"));
    if (auto inspected = builds::inspect(tree); !inspected) {
      fs::remove_all(tree, ignored);
      return fail(ErrorCode::corrupt, inspected.error().message);
    }
    return {};
  }

  /// Runs the program isolated from the user's Python packages, home folder and pip.conf.
  Result<std::string> run(std::vector<std::string> arguments, std::stop_token stop) {
    std::error_code error;
    if (!fs::exists(settings_.program, error)) {
      return fail(ErrorCode::unavailable, "there is no " + settings_.program.string() +
                                              ": [build] kit_sources must be a whole checkout");
    }
    fs::create_directories(settings_.cache, error);
    if (error) {
      return fail(ErrorCode::unavailable,
                  "cannot make " + settings_.cache.string() + ": " + error.message());
    }
    arguments.insert(arguments.begin(), {"-I", settings_.program.string()});
    process::ProcessSpec spec{.program = settings_.python,
                              .arguments = std::move(arguments),
                              .environment = environment(),
                              .working_folder = settings_.cache,
                              .time_limit = settings_.time_limit,
                              .output_limit_bytes = kOutputBytesMax,
                              .label = "libtorch",
                              .cpus = {},
                              .on_started = {}};
    TW_TRY_VOID(builds::confine_tool(settings_.sandbox, spec, profile_for(spec)));
    auto outcome = processes_.run(spec, std::move(stop));
    if (!process::succeeded(outcome)) return fail(explain(outcome));
    return std::move(outcome.output);
  }

  /// The network is for pip. The program and the modules beside it are read, and folders that serve
  /// as an index.
  sandbox::Profile profile_for(const process::ProcessSpec& spec) const {
    sandbox::Profile profile;
    profile.has_network = true;
    profile.readable.push_back(settings_.program.parent_path());
    profile.writable.push_back(settings_.cache);
    for (const char* name : kIndexSettings) {
      if (const auto value = spec.environment.find(name); value != spec.environment.end()) {
        add_folders(value->second, profile.readable);
      }
    }
    return profile;
  }

  std::map<std::string, std::string> environment() const {
    auto environment = builds::tool_environment();
    for (const char* name : kIndexSettings) {
      if (const char* value = std::getenv(name); value != nullptr) environment[name] = value;
    }
    environment["PIP_CONFIG_FILE"] = "/dev/null";
    environment["LC_ALL"] = "C.UTF-8";
    return environment;
  }

  Error explain(const process::ProcessOutcome& outcome) const {
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

  WheelIndexSettings settings_;
  process::ProcessRunner& processes_;
  std::mutex fetching_;
};

}  // namespace

std::unique_ptr<Channel> make_wheel_index_channel(WheelIndexSettings settings,
                                                  process::ProcessRunner& processes) {
  return std::make_unique<WheelIndexChannel>(std::move(settings), processes);
}

}  // namespace torchwatch::channel
