#include "torchwatch/checks/checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "finding.hpp"
#include "torchwatch/bisect/candidate_commits.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/daemon/confinement.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/unix_socket.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/secrets/secrets.hpp"
#include "torchwatch/signin/accepted_tokens.hpp"

namespace torchwatch::checks {
namespace {

namespace fs = std::filesystem;

CheckResult check_program(const std::string& program, const std::string& why) {
  const char* const path = std::getenv("PATH");
  if (!process::find_program(program, path == nullptr ? "" : path).empty()) {
    return good(program, "found");
  }
  return bad(Severity::error, program, "not on PATH", "install it: " + why);
}

/// The folder above a path that exists already.
fs::path existing_above(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path;
}

CheckResult check_database(const fs::path& path) {
  const auto above = existing_above(path.parent_path());
  if (access(above.c_str(), W_OK) != 0) {
    return bad(Severity::error, "database", "this user may not write in " + above.string(),
               "give it the right, or choose another [storage] path");
  }
  if (!fs::exists(path)) return good("database", "will be made at " + path.string());
  const auto database = storage::Database::open({.path = path, .read_only = true});
  if (!database) {
    return bad(Severity::error, "database", database.error().text(), "as found says");
  }
  const auto breaches = (*database)->check_invariants();
  if (!breaches) {
    return bad(Severity::error, "database", breaches.error().text(), "restore a backup");
  }
  if (breaches->empty()) return good("database", "every stored row keeps the rules");
  const auto& first = breaches->front();
  return bad(Severity::error, "database",
             std::to_string(breaches->size()) + " broken rules, first " + first.invariant + ": " +
                 first.rows,
             "restore a backup of " + path.string());
}

/// "a/b has 3 of the issues"; empty where all are in [github] repository, or it was not noted.
std::string issues_elsewhere(const config::Config& config, storage::Database& database) {
  std::string text;
  const auto places = storage::OutboxStore(database).filed_in();
  if (!places) return text;
  for (const auto& place : *places) {
    const bool is_ours =
        place.repository.empty() || lower(place.repository) == lower(config.github.repository);
    if (is_ours) continue;
    text += (text.empty() ? "" : ", ") + place.repository + " has " + std::to_string(place.issues) +
            " of the issues";
  }
  return text;
}

/// What has reached the tracker, as far as the database says.
CheckResult check_delivery(const config::Config& config) {
  const std::string what = "delivery of issues";
  if (config.github.repository.empty()) return good(what, "not asked for");
  std::error_code error;
  if (!fs::exists(config.storage.path, error)) return good(what, "no database yet");
  const auto database = daemon::open_reader(config);
  if (!database) return bad(Severity::unknown, what, "unknown: " + database.error().text(), "");
  const auto times = storage::AlarmStore(**database).times();
  const auto unsent = storage::OutboxStore(**database).unsent();
  if (!times || !unsent) return bad(Severity::unknown, what, "unknown: see database", "");
  const auto last = times->last_delivery
                        ? "the last one at " + platform::date_and_minute(*times->last_delivery)
                        : std::string("none yet");
  if (const auto elsewhere = issues_elsewhere(config, **database); !elsewhere.empty()) {
    return bad(Severity::warning, what, last + ", " + elsewhere,
               "what follows those waits, untouched, until [github] repository names theirs again");
  }
  if (unsent->empty()) return good(what, last + ", nothing waits");
  return bad(Severity::warning, what, last + ", " + std::to_string(unsent->size()) + " not sent",
             "`torchwatch outbox list` says why");
}

CheckResult check_source(const config::Config& config) {
  if (config.source.repository.empty()) {
    return bad(Severity::warning, "[source] repository", "not set",
               "set it to a clone of PyTorch: without it no bisection runs");
  }
  const auto folder = repository_folder(config);
  std::error_code error;
  if (is_cloned(config) && !fs::exists(folder, error)) {
    return bad(Severity::unknown, "[source] repository",
               config.source.repository + " has not been cloned yet",
               "`torchwatch serve` or `torchwatch nightly` clones it");
  }
  const auto history = bisect::CommitHistory::open(folder);
  if (!history) {
    return bad(Severity::error, "[source] repository", history.error().text(),
               "set [source] repository to a git repository");
  }
  if (fs::exists(folder / ".git" / "shallow", error) || fs::exists(folder / "shallow", error)) {
    return bad(Severity::warning, "[source] repository",
               config.source.repository + " is a shallow clone: older commits are unknown",
               "git -C " + folder.string() + " fetch --unshallow");
  }
  const auto tip = history->resolve(config.source.branch);
  if (tip) return good("[source] repository", config.source.branch + " is " + short_sha(*tip));
  return bad(Severity::error, "[source] branch", tip.error().text(),
             "set [source] branch to a branch of " + config.source.repository);
}

CheckResult check_recipe(const config::Config& config) {
  if (config.build.recipe.empty()) {
    return bad(Severity::warning, "[build] recipe", "not set",
               "set it to a build recipe: without it no bisection runs");
  }
  if (is_built_by_actions(config)) {
    const auto& own = config.actions.token_file;
    const auto token = secrets::read_secret(own.empty() ? config.github.token_file : own);
    if (!token) {
      return bad(
          Severity::error, "[actions] token_file", token.error().text(),
          "name a file with a token that may start workflows of " + config.actions.repository);
    }
    return good("[build] recipe",
                "the workflow " + config.actions.workflow + " of " + config.actions.repository);
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
    return bad(Severity::error, "[web] socket", listener.error().text(),
               "set [web] socket to a path in a folder that the daemon may write");
  }
  if (!*listener) return good("[web] socket", "will be made at " + path.string());
  return good("[web] socket",
              "process " + std::to_string(**listener) + " listens on " + path.string());
}

CheckResult check_folding(const config::Config& config) {
  const auto& patterns = config.bisect.cannot_change;
  const auto understood = bisect::PathPatterns::create(patterns);
  if (understood) {
    return good("[bisect] cannot_change",
                patterns.empty() ? "the patterns for PyTorch" : "the patterns are understood");
  }
  return bad(Severity::error, "[bisect] cannot_change", understood.error().text(),
             "correct the pattern: no bisection can begin with it");
}

/// Without a token nothing can be written over the port, which is fine: the socket needs none.
CheckResult check_web_token(const config::Config& config) {
  if (config.web.token_file.empty())
    return good("[web] token_file", "not set: `torchwatch token create` makes tokens");
  const auto token = signin::token_of_file(config.web.token_file);
  if (token) return good("[web] token_file", "readable by its owner alone");
  return bad(Severity::error, "[web] token_file", token.error().text(),
             "write a token there, chmod 600: `openssl rand -hex 32` prints one");
}

CheckResult check_names(const config::Config& config) {
  const auto known = daemon::suite_workloads(config);
  if (known) return check_suite(config.suite.workloads, *known);
  const auto& [code, message, remedy] = known.error();
  return bad(Severity::error, "[suite] workloads", message,
             remedy.empty() ? "set [build] kit_sources to a checkout of torchwatch" : remedy);
}

CheckResult check_thresholds(const config::Config& config) {
  const std::string what = "[detect] thresholds";
  std::vector<std::string> named;
  for (const auto& each : config.detect.thresholds) {
    if (!each.workload.empty()) named.push_back(each.workload);
  }
  if (named.empty()) return good(what, "name no workload");
  const auto known = daemon::suite_workloads(config);
  return known ? check_suite(named, *known, what)
               : bad(Severity::unknown, what, "unknown: see [suite] workloads", "");
}

CheckResult check_sandbox(const config::Config& config) {
  const auto processes =
      process::make_process_runner("torchwatch check, process " + std::to_string(getpid()));
  const auto opened = daemon::open_sandbox(config, *processes);
  if (!opened) {
    return bad(Severity::error, "[sandbox]", opened.error().text(),
               "or set [sandbox] kind = \"auto\" on a machine that you can lose");
  }
  if (opened->problem.empty()) return good("[sandbox]", "bubblewrap works here");
  return bad(Severity::warning, "[sandbox]", opened->problem,
             "set [sandbox] kind = \"bubblewrap\", or use a machine that you can lose");
}

/// The GPU of this machine is asked for only where runs take place here.
std::vector<CheckResult> check_own_gpu(const config::Config& config) {
  const bool is_here = config.executor.kind == config::ExecutorKind::local;
  return check_gpu("/", is_here ? config.suite.configurations : std::vector<Configuration>{});
}

}  // namespace

CheckResult check_suite(const std::vector<std::string>& named,
                        const std::vector<std::string>& known, const std::string& what) {
  if (named.empty()) return good(what, "all " + std::to_string(known.size()));
  for (const auto& name : named) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return bad(Severity::error, what, "there is no workload \"" + name + "\"",
               did_you_mean(name, known) + "`torchwatch workload list` has their names");
  }
  return good(what, std::to_string(named.size()) + " of " + std::to_string(known.size()));
}

std::vector<CheckResult> check_all(const config::Config& config) {
  const auto client = platform::make_http_client("torchwatch");
  auto results = check_machine("/");
  std::ranges::move(check_own_gpu(config), std::back_inserter(results));
  for (auto& result : {check_program("g++", "runners are compiled against each build's headers"),
                       check_program("cmake", "runners are compiled with it"),
                       check_program("ninja", "runners are compiled with it"),
                       check_pip(config),
                       check_disk(config),
                       check_database(config.storage.path),
                       check_channel(config),
                       check_names(config),
                       check_batches(config),
                       check_externals(config),
                       check_thresholds(config),
                       check_source(config),
                       check_recipe(config),
                       check_artifacts(config, *client),
                       check_folding(config),
                       check_sandbox(config),
                       check_lock(config.executor.machine_lock),
                       check_address(config.web.address),
                       check_socket(config),
                       check_web_token(config),
                       check_delivery(config)}) {
    results.push_back(result);
  }
  std::ranges::move(check_cluster(config), std::back_inserter(results));
  std::ranges::move(check_receivers(config), std::back_inserter(results));
  std::ranges::move(check_github(config, *client), std::back_inserter(results));
  return results;
}

}  // namespace torchwatch::checks
