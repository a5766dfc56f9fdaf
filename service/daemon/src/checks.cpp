#include "torchwatch/daemon/checks.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "torchwatch/bisect/commit_history.hpp"
#include "torchwatch/platform/unix_socket.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/storage/database.hpp"

namespace torchwatch::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFreeBytesMin = std::uintmax_t{10} << 30U;

CheckResult good(std::string what, std::string found) {
  return {
      .severity = Severity::good, .what = std::move(what), .found = std::move(found), .remedy = ""};
}

CheckResult bad(Severity severity, std::string what, std::string found, std::string remedy) {
  return {.severity = severity,
          .what = std::move(what),
          .found = std::move(found),
          .remedy = std::move(remedy)};
}

CheckResult check_program(const std::string& program, const std::string& why) {
  const char* const path = std::getenv("PATH");
  if (!process::find_program(program, path == nullptr ? "" : path).empty()) {
    return good(program, "found");
  }
  return bad(Severity::error, program, "not on PATH", "install it: " + why);
}

CheckResult check_space(const fs::path& folder) {
  auto existing = folder;
  while (!existing.empty() && !fs::exists(existing)) existing = existing.parent_path();
  std::error_code error;
  const auto space = fs::space(existing, error);
  if (error) {
    return bad(Severity::error, "disk", folder.string() + ": " + error.message(),
               "choose another [storage] path");
  }
  const auto found = std::to_string(space.available >> 30U) + " GiB free at " + existing.string();
  if (space.available >= kFreeBytesMin) return good("disk", found);
  return bad(Severity::error, "disk", found,
             "free 10 GiB, or move [storage] path and [build] cache");
}

CheckResult check_database(const fs::path& path) {
  if (!fs::exists(path)) return good("database", "will be made at " + path.string());
  const auto database = storage::Database::open({.path = path, .read_only = true});
  if (!database) {
    return bad(Severity::error, "database", database.error().message, "as found says");
  }
  const auto breaches = (*database)->check_invariants();
  if (!breaches) {
    return bad(Severity::error, "database", breaches.error().message, "restore a backup");
  }
  if (breaches->empty()) return good("database", "every stored row keeps the rules");
  const auto& first = breaches->front();
  return bad(Severity::error, "database",
             std::to_string(breaches->size()) + " broken rules, first " + first.invariant + ": " +
                 first.rows,
             "restore a backup of " + path.string());
}

CheckResult check_channel(const config::Config& config) {
  if (config.channel.kind != config::ChannelKind::directory) {
    return good("[channel]", "releases of the Python package index");
  }
  if (fs::is_directory(config.channel.path)) {
    return good("[channel] path", config.channel.path.string());
  }
  return bad(Severity::error, "[channel] path",
             "there is no folder " + config.channel.path.string(),
             "set [channel] path to the folder with one LibTorch tree a nightly");
}

CheckResult check_source(const config::Config& config) {
  if (config.source.repository.empty()) {
    return bad(Severity::warning, "[source] repository", "not set",
               "set it to a clone of PyTorch: without it no bisection runs");
  }
  const auto history = bisect::CommitHistory::open(config.source.repository);
  if (!history) {
    return bad(Severity::error, "[source] repository", history.error().message,
               "set [source] repository to a git repository");
  }
  const auto tip = history->resolve(config.source.branch);
  if (tip) return good("[source] repository", config.source.branch + " is " + tip->substr(0, 12));
  return bad(Severity::error, "[source] branch", tip.error().message,
             "set [source] branch to a branch of " + config.source.repository);
}

CheckResult check_recipe(const config::Config& config) {
  if (config.build.recipe.empty()) {
    return bad(Severity::warning, "[build] recipe", "not set",
               "set it to a build recipe: without it no bisection runs");
  }
  if (access(config.build.recipe.c_str(), X_OK) == 0) {
    return good("[build] recipe", config.build.recipe.string());
  }
  return bad(Severity::error, "[build] recipe",
             config.build.recipe.string() + " is not there or not executable",
             "chmod +x it, or correct the path");
}

CheckResult check_socket(const config::Config& config) {
  const auto path = config::control_socket(config);
  // The daemon makes the folder of its database, and no other.
  const bool is_made = config.web.socket.empty() && !fs::exists(path.parent_path());
  if (is_made) return good("[web] socket", "will be made at " + path.string());
  const auto file = platform::SocketFile::open(path);
  const auto listener = file ? file->listener() : fail(file.error());
  if (!listener) {
    return bad(Severity::error, "[web] socket", listener.error().message,
               "set [web] socket to a path in a folder that the daemon may write");
  }
  if (!*listener) return good("[web] socket", "will be made at " + path.string());
  return good("[web] socket",
              "process " + std::to_string(**listener) + " listens on " + path.string());
}

CheckResult check_github(const config::Config& config) {
  if (config.github.repository.empty()) {
    return bad(Severity::warning, "[github]", "not set", "issues stay in the outbox until it is");
  }
  const auto token = config::read_secret(config.github.token_file);
  if (token) return good("[github]", "files into " + config.github.repository);
  return bad(Severity::error, "[github] token_file", token.error().message,
             "put a token with Issues: read and write there, chmod 600");
}

}  // namespace

std::vector<CheckResult> check_all(const config::Config& config) {
  auto results = check_machine("/");
  for (auto& result :
       {check_program("g++", "runners are compiled against each build's headers"),
        check_program("cmake", "runners are compiled with it"),
        check_program("ninja", "runners are compiled with it"),
        check_program("python3", "releases are fetched with its pip"),
        check_space(config.storage.path.parent_path()), check_database(config.storage.path),
        check_channel(config), check_source(config), check_recipe(config), check_socket(config),
        check_github(config)}) {
    results.push_back(result);
  }
  return results;
}

}  // namespace torchwatch::daemon
