#include "torchwatch/nightly/attend.hpp"

#include <algorithm>
#include <exception>

#include "torchwatch/records/printable.hpp"
#include "torchwatch/storage/work_store.hpp"

namespace torchwatch::nightly {
namespace {

constexpr storage::WallMillis kPauseMin = 60'000;
constexpr storage::WallMillis kPauseMax = 30 * kPauseMin;

storage::WallMillis pause_after(int setbacks) {
  return std::min(kPauseMin << std::clamp(setbacks - 1, 0, 10), kPauseMax);
}

storage::SetbackRow next_setback(const std::optional<storage::SetbackRow>& before,
                                 const storage::ItemKey& key, const Error& error,
                                 storage::WallMillis now) {
  auto row = before.value_or(storage::SetbackRow{.key = key, .setbacks = 0, .since = now});
  if (consequence_of(error.code) == Consequence::counts) ++row.tries;
  ++row.setbacks;
  row.not_before = now + pause_after(row.setbacks);
  row.error = error.text();
  return row;
}

Result<Attended> end(comparison::Services& services, const WorkItem& item, Failure failure,
                     const std::string& reason) {
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY_VOID(item.end(failure, reason));
    return storage::SetbackStore(services.database).clear(item.key);
  }));
  services.progress.log(std::string(to_string(item.key.kind)) + " " + item.key.item +
                        (failure == Failure::failed ? " has failed: " : " is refused: ") + reason);
  return Attended::ended;
}

Result<Attended> give_up(comparison::Services& services, const WorkItem& item,
                         const storage::SetbackRow& last) {
  return end(services, item, Failure::failed,
             "given up after " + std::to_string(last.tries) + " tries: " + last.error);
}

/// An exception is a fault of ours, and ends one item, not the service. An error's message may hold
/// the output of compilers, recipes and pip: it is stored, and goes into JSON, pages and issues.
Status guarded(const std::function<Status()>& work) {
  try {
    const auto worked = work();
    if (worked) return worked;
    const auto& [code, message, remedy] = worked.error();
    return fail(code, message.empty() ? std::string(to_string(code)) : printable(message),
                printable(remedy));
  } catch (const std::exception& exception) {
    return fail(ErrorCode::internal, printable(std::string("internal error: ") + exception.what()));
  }
}

Result<Attended> put_off(comparison::Services& services, const WorkItem& item, const Error& error) {
  storage::SetbackStore store(services.database);
  TW_TRY(const auto before, store.find(item.key));
  const auto row = next_setback(before, item.key, error, services.clock.wall_now());
  if (row.tries >= storage::kTriesMax) return give_up(services, item, row);
  TW_TRY_VOID(store.record(row));
  const bool is_news = !before || before->error != row.error;
  if (is_news) {
    services.progress.log(std::string(to_string(item.key.kind)) + " " + item.key.item +
                          " is put off: " + row.error);
  }
  return Attended::put_off;
}

/// Works on the item, which is stored for as long as that lasts: a process that dies cannot say
/// what it worked on. Errors: of storage; the item's own is in what is returned.
Result<Status> noted(comparison::Services& services, const WorkItem& item) {
  if (is_of_service(item.key.kind)) return guarded(item.work);
  storage::WorkStore store(services.database);
  TW_TRY(const auto id, store.begin(item.key));
  auto worked = guarded(item.work);
  const auto ended = store.end(id);
  const bool is_told = !worked && consequence_of(worked.error().code) == Consequence::stops;
  if (!ended && !is_told) return fail(ended.error());
  return worked;
}

}  // namespace

Consequence consequence_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::not_found:
    case ErrorCode::conflict:
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      return Consequence::ends;
    case ErrorCode::failed:
      return Consequence::counts;
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return Consequence::waits;
    case ErrorCode::cancelled:
    case ErrorCode::damaged:
      return Consequence::stops;
  }
  return Consequence::stops;
}

Result<Attended> attend(comparison::Services& services, const WorkItem& item) {
  TW_TRY(const auto before, storage::SetbackStore(services.database).find(item.key));
  if (before && before->tries >= storage::kTriesMax) return give_up(services, item, *before);
  TW_TRY(const auto worked, noted(services, item));
  if (worked) {
    TW_TRY_VOID(storage::SetbackStore(services.database).clear(item.key));
    return Attended::done;
  }
  switch (consequence_of(worked.error().code)) {
    case Consequence::stops:
      return fail(worked.error());
    case Consequence::ends:
      return end(services, item, Failure::refused, worked.error().text());
    case Consequence::counts:
    case Consequence::waits:
      break;
  }
  return put_off(services, item, worked.error());
}

Result<bool> is_due(comparison::Services& services, const storage::ItemKey& key) {
  TW_TRY(const auto setback, storage::SetbackStore(services.database).find(key));
  if (!setback) return true;
  const auto now = services.clock.wall_now();
  // A clock that was ahead when the setback was stored must not hold the item for years.
  return setback->not_before <= now || setback->not_before > now + kPauseMax;
}

Status note_downfall(storage::Database& database, const storage::ItemKey& key,
                     storage::WallMillis now) {
  storage::SetbackStore store(database);
  TW_TRY(const auto before, store.find(key));
  const Error error{ErrorCode::failed, "the service ended while it worked on this"};
  return store.record(next_setback(before, key, error, now));
}

}  // namespace torchwatch::nightly
