#include "deliveries.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "torchwatch/nightly/attend.hpp"

namespace torchwatch::daemon {
namespace {

/// How long to wait at most before the next look at what was put off.
constexpr std::chrono::seconds kLookAgainAfter{60};

}  // namespace

Deliveries::Deliveries(Application& application, Outbox outbox, Note note)
    : application_(application),
      outbox_(std::move(outbox)),
      notifier_({application.services().database, application.config(), application.processes(),
                 application.services().clock, application.log()}),
      note_(std::move(note)) {}

void Deliveries::begin() {
  const auto rest = std::min(application_.config().channel.poll, kLookAgainAfter);
  rounds_.emplace(rest, [this](const std::stop_token& stop) { deliver(stop); });
  listening_ = application_.services().database.on_commit([this] { rounds_->wake(); });
  rounds_->wake();  // for what was stored before that
}

Status Deliveries::damage() const {
  const std::scoped_lock lock(mutex_);
  return damage_ ? Status{fail(*damage_)} : Status{};
}

void Deliveries::deliver(const std::stop_token& stop) {
  attempt("notices", [&] { return notices(stop); });
  attempt("outbox", [&] { return outbox_.deliver(stop); });
}

/// An exception is a fault of ours. It costs this part one round, and the other nothing.
void Deliveries::attempt(const std::string& source,
                         const std::function<Result<std::string>()>& work) {
  try {
    note(source, work());
  } catch (const std::exception& exception) {
    note_(source, std::string("internal error: ") + exception.what());
  }
}

Result<std::string> Deliveries::notices(const std::stop_token& stop) {
  TW_TRY_VOID(notifier_.queue());
  return notifier_.deliver(stop);
}

/// A damaged message, or settings of [github] that cannot work, keep nothing else from being done.
void Deliveries::note(const std::string& source, const Result<std::string>& problem) {
  if (problem) return note_(source, *problem);
  const auto& error = problem.error();
  if (error.code == ErrorCode::cancelled) return;
  note_(source, error.text());
  if (nightly::consequence_of(error.code) != nightly::Consequence::stops) return;
  const std::scoped_lock lock(mutex_);
  damage_ = error;
}

}  // namespace torchwatch::daemon
