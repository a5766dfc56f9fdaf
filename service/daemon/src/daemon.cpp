#include "torchwatch/daemon/daemon.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "torchwatch/api/api.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/daemon/on_demand.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/nightly/acceptance.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::daemon {
namespace {

using nlohmann::json;
using storage::RequestRow;
using storage::RequestState;

/// How long to wait after an error of the environment before the next try.
constexpr std::chrono::seconds kRetryAfterFailure{60};

http::ServerSettings server_settings(const config::Config& config) {
  http::ServerSettings settings;
  settings.address = config.web.address;
  settings.port = config.web.port;
  settings.hosts = config.web.hosts;
  settings.socket = config::control_socket(config);
  settings.body_bytes_max = static_cast<std::size_t>(config.web.body_limit_bytes);
  settings.head_time_limit = config.web.head_time_limit;
  settings.body_time_limit = config.web.body_time_limit;
  return settings;
}

bool is_final(const Error& error) {
  return error.code == ErrorCode::cancelled || error.code == ErrorCode::corrupt ||
         error.code == ErrorCode::internal;
}

Result<std::string> carry_out_nightly(Application& application, const RequestRow& request,
                                      std::stop_token stop) {
  const auto body = json::parse(request.body_json, nullptr, false);
  if (!body.is_object() || !body.contains("candidate") || !body.contains("baseline")) {
    return json{{"note", "every nightly without a verdict is due"}}.dump();
  }
  TW_TRY(const auto candidate,
         resolve_build(application, body["candidate"].get<std::string>(), stop));
  TW_TRY(const auto baseline,
         resolve_build(application, body["baseline"].get<std::string>(), stop));
  TW_TRY(const auto comparison, nightly::open_requested_comparison(
                                    application.services(), candidate.id, baseline.id, true));
  TW_TRY(const auto ended, nightly::carry_out_comparison(application.services(), comparison, stop));
  return json{{"comparison", ended.id}}.dump();
}

Result<std::string> carry_out_bisection(Application& application, const RequestRow& request,
                                        std::stop_token stop) {
  TW_TRY(const auto wanted, bisection::parse_bisection_request(request.body_json));
  TW_TRY(const auto row, bisect_on_demand(application, wanted, stop));
  return json{{"bisection", row.id}}.dump();
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(Application& application) {
  TW_TRY_VOID(application.lock_machine());
  TW_TRY_VOID(storage::RequestStore(application.services().database).reopen());
  TW_TRY(auto outbox, Outbox::open(application));
  std::unique_ptr<Daemon> daemon(new Daemon(application, std::move(outbox)));
  TW_TRY_VOID(daemon->start_server());
  return daemon;
}

Daemon::~Daemon() = default;

Status Daemon::start_server() {
  auto settings = server_settings(application_.config());
  if (!application_.config().web.token_file.empty()) {
    TW_TRY(const auto token, config::read_secret(application_.config().web.token_file));
    application_.log().hide(token);
    settings.token_sha256 = http::hash_token(token);
  }
  auto& services = application_.services();
  auto routes = api::routes({services.database, services.clock, services.random,
                             [this] {
                               std::scoped_lock lock(mutex_);
                               woken_ = true;
                               wake_.notify_all();
                             },
                             [this] {
                               std::scoped_lock lock(mutex_);
                               return problem_;
                             },
                             [&services](storage::Id id, const auto& by, const auto& reason) {
                               return nightly::accept_incident(services, id, by, reason);
                             }});
  std::ranges::move(pages::routes(services.database), std::back_inserter(routes));
  TW_TRY(server_, http::Server::start(std::move(settings), std::move(routes), services.clock,
                                      application_.log().logger("http")));
  logger_.info("listening on http://" + application_.config().web.address + ":" +
               std::to_string(server_->port()) + " and on " +
               config::control_socket(application_.config()).string());
  return {};
}

Status Daemon::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto worked = work_once(stop);
    if (!worked && is_final(worked.error())) {
      if (worked.error().code == ErrorCode::cancelled) break;
      return fail(worked.error());
    }
    set_problem(worked ? "" : worked.error().message);
    if (worked && *worked) continue;
    wait(worked ? application_.config().channel.poll : kRetryAfterFailure, stop);
  }
  server_->stop();
  logger_.info("stopped");
  return {};
}

Result<bool> Daemon::work_once(std::stop_token stop) {
  TW_TRY(const bool answered, work_off_request(stop));
  TW_TRY_VOID(work_off_comparisons(stop));
  TW_TRY_VOID(outbox_.deliver(stop));
  return answered;
}

Result<bool> Daemon::work_off_request(std::stop_token stop) {
  auto& services = application_.services();
  storage::RequestStore requests(services.database);
  TW_TRY(const auto request, requests.claim_next());
  if (!request) return false;
  const auto done = request->kind == storage::RequestKind::nightly
                        ? carry_out_nightly(application_, *request, stop)
                        : carry_out_bisection(application_, *request, stop);
  if (done) {
    TW_TRY_VOID(requests.answer(request->id, RequestState::done, *done));
    return true;
  }
  // Interrupted, or the environment failed: the request stays pending.
  if (is_final(done.error()) || done.error().code == ErrorCode::unavailable) {
    TW_TRY_VOID(requests.reopen());
    return fail(done.error());
  }
  TW_TRY_VOID(requests.answer(request->id, RequestState::failed,
                              json{{"error", done.error().message}}.dump()));
  return true;
}

Status Daemon::work_off_comparisons(std::stop_token stop) {
  auto& services = application_.services();
  TW_TRY(const auto due, nightly::discover_comparisons(services, stop));
  const auto deliver = [&]() -> Status {
    TW_TRY_VOID(outbox_.deliver(stop));
    return {};
  };
  TW_TRY_VOID(nightly::carry_out_comparisons(services, due, deliver, stop));
  TW_TRY(const auto open, storage::BisectionStore(services.database).unfinished());
  for (const auto& bisection : open) {
    TW_TRY_VOID(bisection::carry_out_bisection(services, bisection, stop));
  }
  return {};
}

void Daemon::set_problem(const std::string& problem) {
  if (!problem.empty()) logger_.error(problem);
  std::scoped_lock lock(mutex_);
  problem_ = problem;
}

void Daemon::wait(std::chrono::seconds limit, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, limit, [this] { return woken_; });
  woken_ = false;
}

}  // namespace torchwatch::daemon
