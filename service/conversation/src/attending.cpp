#include "attending.hpp"

#include <exception>

#include "torchwatch/github/delivery_failure.hpp"
#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::conversation {
namespace {

using nightly::Consequence;
using storage::ReceivedRow;
using storage::ReceivedState;

constexpr int kTriesMax = 3;
constexpr platform::WallMillis kPauseMax = 30LL * 60'000;

/// A clock that was ahead when the item was put off must not hold it for years.
bool is_due(const ReceivedRow& row, platform::WallMillis now) {
  return row.not_before <= now || row.not_before > now + kPauseMax;
}

Status put_off(storage::ReceivedStore& store, const platform::Clock& clock, ReceivedRow row,
               const Error& error) {
  if (nightly::consequence_of(error.code) == Consequence::counts) ++row.tries;
  ++row.setbacks;
  row.error = error.text();
  if (row.tries >= kTriesMax) {
    return store.end(row.id, ReceivedState::failed,
                     "given up after " + std::to_string(row.tries) + " tries: " + row.error);
  }
  const std::chrono::milliseconds pause = github::wait_after({}, row.setbacks);
  row.not_before = clock.wall_now() + pause.count();
  return store.put_off(row);
}

/// An exception is a fault of ours, and ends one item, not the service.
Result<std::string> guarded(const std::function<Result<std::string>()>& work) {
  try {
    auto done = work();
    if (done) return done;
    return fail(done.error().code, printable(done.error().text()));
  } catch (const std::exception& exception) {
    return fail(ErrorCode::internal, printable(std::string("internal error: ") + exception.what()));
  }
}

}  // namespace

Status attend(storage::ReceivedStore& store, const platform::Clock& clock, ReceivedRow row,
              const std::function<Result<std::string>()>& work) {
  if (!is_due(row, clock.wall_now())) return {};
  TW_TRY_VOID(store.begin(row.id));
  const auto done = guarded(work);
  if (done) return store.end(row.id, ReceivedState::done, *done);
  switch (nightly::consequence_of(done.error().code)) {
    case Consequence::stops:
      TW_TRY_VOID(store.put_off(row));
      return fail(done.error());
    case Consequence::ends:
      return store.end(row.id, ReceivedState::refused, done.error().text());
    case Consequence::counts:
    case Consequence::waits:
      break;
  }
  return put_off(store, clock, std::move(row), done.error());
}

Status note_downfalls(storage::ReceivedStore& store, const platform::Clock& clock) {
  TW_TRY(const auto left, store.left_under_way());
  for (const auto& row : left) {
    TW_TRY_VOID(put_off(store, clock, row,
                        {ErrorCode::failed, "the service ended while it worked on this"}));
  }
  return {};
}

Result<std::string> why_some_wait(storage::ReceivedStore& store) {
  TW_TRY(const auto pending, store.pending());
  for (const auto& row : pending) {
    if (row.error.empty()) continue;
    return "received item " + std::to_string(row.id) + " about issue " + std::to_string(row.issue) +
           " waits: " + row.error;
  }
  return std::string();
}

}  // namespace torchwatch::conversation
