#include "torchwatch/control/service_now.hpp"

#include <algorithm>

#include "torchwatch/control/control_client.hpp"
#include "torchwatch/database/writer.hpp"
#include "torchwatch/storage/daemon_store.hpp"

namespace torchwatch::control {
namespace {

using terminal::ServiceNow;

/// What the daemon says of itself, or why it cannot be asked.
Result<ServiceNow> ask(const ControlClient& daemon) {
  TW_TRY(auto report, daemon.service_now());
  return ServiceNow{.daemon = daemon.process(), .report = std::move(report)};
}

}  // namespace

Result<ServiceNow> service_now(storage::Database& database, const config::Config& config) {
  const auto daemon = ControlClient::find(config);
  ServiceNow now;
  if (daemon && *daemon) {
    auto asked = ask(**daemon);
    if (asked) return asked;
    now.daemon = (*daemon)->process();
    now.not_asked = asked.error().text();
  } else if (!daemon) {
    now.not_asked = daemon.error().text();
  }
  now.writer = storage::writer_of(config.storage.path);
  TW_TRY(now.last, storage::DaemonStore(database).last());
  TW_TRY(now.report.problems, health::standing_problems(database, config));
  return now;
}

std::optional<storage::Id> comparison_at_work(const config::Config& config) {
  const auto daemon = ControlClient::find(config);
  if (!daemon || !*daemon) return std::nullopt;
  const auto asked = ask(**daemon);
  return asked ? asked->report.doing.comparison : std::nullopt;
}

std::string problem_of(const config::Config& config, const std::string& source) {
  const auto daemon = ControlClient::find(config);
  if (!daemon || !*daemon) return {};
  const auto asked = ask(**daemon);
  if (!asked) return {};
  const auto& problems = asked->report.problems;
  const auto found = std::ranges::find(problems, source, &health::Problem::source);
  return found == problems.end() ? "" : text_of(*found, true);
}

}  // namespace torchwatch::control
