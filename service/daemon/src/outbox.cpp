#include <optional>

#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::daemon {

struct Outbox::Parts {
  Parts(Session& session, report::GithubSettings settings)
      : incidents(session.workshop().database),
        http(doors::make_http_client("torchwatch")),
        sender(incidents, *http, session.workshop().clock, std::move(settings)) {}

  storage::IncidentStore incidents;
  std::unique_ptr<doors::HttpClient> http;
  report::OutboxSender sender;
};

void Outbox::Remove::operator()(Parts* parts) const {
  delete parts;
}

Result<Outbox> Outbox::open(Session& session) {
  const auto& github = session.config().github;
  Outbox outbox;
  if (github.repository.empty()) return outbox;
  TW_TRY(const auto token, config::read_secret(github.token_file));
  report::GithubSettings settings;
  settings.repository = github.repository;
  settings.token = token;
  settings.api = github.api;
  outbox.parts_.reset(new Parts(session, std::move(settings)));
  return outbox;
}

Result<report::Delivery> Outbox::deliver(std::stop_token stop) {
  if (!parts_) return report::Delivery{};
  return parts_->sender.deliver_due(stop);
}

}  // namespace torchwatch::daemon
