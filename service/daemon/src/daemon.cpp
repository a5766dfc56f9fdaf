#include "torchwatch/daemon/daemon.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/daemon/on_demand.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/search_run.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::daemon {
namespace {

using nlohmann::json;
using storage::RequestRow;
using storage::RequestState;

/// How long to wait after the surroundings failed before everything is looked at again.
constexpr std::chrono::seconds kRetryAfterFailure{60};

web::ServerSettings server_settings(const config::Config& config) {
  web::ServerSettings settings;
  settings.address = config.web.address;
  settings.port = config.web.port;
  settings.hosts = config.web.hosts;
  settings.body_bytes_max = static_cast<std::size_t>(config.web.body_limit_bytes);
  settings.head_time_limit = config.web.head_time_limit;
  settings.body_time_limit = config.web.body_time_limit;
  return settings;
}

bool is_final(const Error& error) {
  return error.code == ErrorCode::cancelled || error.code == ErrorCode::corrupt ||
         error.code == ErrorCode::internal;
}

Result<std::string> carry_out_nightly(Session& session, const RequestRow& request,
                                      std::stop_token stop) {
  const auto body = json::parse(request.body_json, nullptr, false);
  if (!body.is_object() || !body.contains("candidate") || !body.contains("baseline")) {
    return json{{"note", "every nightly without a verdict is due"}}.dump();
  }
  TW_TRY(const auto candidate, resolve_build(session, body["candidate"].get<std::string>(), stop));
  TW_TRY(const auto baseline, resolve_build(session, body["baseline"].get<std::string>(), stop));
  TW_TRY(const auto night,
         nightly::open_explicit_night(session.workshop(), candidate.id, baseline.id, true));
  TW_TRY(const auto ended, nightly::carry_out_night(session.workshop(), night, stop));
  return json{{"night", ended.id}}.dump();
}

Result<std::string> carry_out_bisection(Session& session, const RequestRow& request,
                                        std::stop_token stop) {
  TW_TRY(const auto wanted, parse_search_request(request.body_json));
  TW_TRY(const auto row, search_on_demand(session, wanted, stop));
  return json{{"bisection", row.id}}.dump();
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(Session& session) {
  TW_TRY_VOID(session.lock_machine());
  TW_TRY_VOID(storage::RequestStore(session.workshop().database).reopened());
  TW_TRY(auto outbox, Outbox::open(session));
  std::unique_ptr<Daemon> daemon(new Daemon(session, std::move(outbox)));
  TW_TRY_VOID(daemon->start_server());
  return daemon;
}

Daemon::~Daemon() = default;

Status Daemon::start_server() {
  auto settings = server_settings(session_.config());
  if (!session_.config().web.token_file.empty()) {
    TW_TRY(const auto token, config::read_secret(session_.config().web.token_file));
    settings.token_sha256 = web::hash_token(token);
  }
  auto& workshop = session_.workshop();
  web::Backend backend{workshop.database,
                       workshop.clock,
                       workshop.random,
                       [this] {
                         std::scoped_lock lock(mutex_);
                         woken_ = true;
                         wake_.notify_all();
                       },
                       [this] {
                         std::scoped_lock lock(mutex_);
                         return problem_;
                       },
                       [&workshop](const std::string& line) { workshop.progress.note(line); }};
  TW_TRY(server_, web::Server::start(std::move(settings), std::move(backend)));
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
    wait(worked ? session_.config().channel.poll : kRetryAfterFailure, stop);
  }
  server_->stop();
  return {};
}

Result<bool> Daemon::work_once(std::stop_token stop) {
  TW_TRY(const bool answered, work_off_request(stop));
  TW_TRY_VOID(work_off_nights(stop));
  TW_TRY_VOID(outbox_.deliver(stop));
  return answered;
}

Result<bool> Daemon::work_off_request(std::stop_token stop) {
  auto& workshop = session_.workshop();
  storage::RequestStore requests(workshop.database);
  TW_TRY(const auto request, requests.taken());
  if (!request) return false;
  const auto done = request->kind == storage::RequestKind::nightly
                        ? carry_out_nightly(session_, *request, stop)
                        : carry_out_bisection(session_, *request, stop);
  if (done) {
    TW_TRY_VOID(requests.answered(request->id, RequestState::done, *done));
    return true;
  }
  // Interrupted or the surroundings failed: it is still asked for.
  if (is_final(done.error()) || done.error().code == ErrorCode::unavailable) {
    TW_TRY_VOID(requests.reopened());
    return fail(done.error());
  }
  TW_TRY_VOID(requests.answered(request->id, RequestState::failed,
                                json{{"error", done.error().message}}.dump()));
  return true;
}

Status Daemon::work_off_nights(std::stop_token stop) {
  auto& workshop = session_.workshop();
  TW_TRY(const auto due, nightly::discover_nights(workshop, stop));
  const auto deliver = [&]() -> Status {
    TW_TRY_VOID(outbox_.deliver(stop));
    return {};
  };
  TW_TRY_VOID(nightly::carry_out_nights(workshop, due, deliver, stop));
  TW_TRY(const auto open, storage::BisectionStore(workshop.database).open_ones());
  for (const auto& bisection : open) {
    TW_TRY_VOID(nightly::carry_out_search(workshop, bisection, stop));
  }
  return {};
}

void Daemon::set_problem(const std::string& problem) {
  if (!problem.empty()) session_.workshop().progress.note(problem);
  std::scoped_lock lock(mutex_);
  problem_ = problem;
}

void Daemon::wait(std::chrono::seconds limit, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, limit, [this] { return woken_; });
  woken_ = false;
}

}  // namespace torchwatch::daemon
