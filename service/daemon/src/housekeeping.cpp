#include "housekeeping.hpp"

namespace torchwatch::daemon {
namespace {

constexpr std::chrono::hours kCheckEvery{24};

/// "2 rules are broken, first slot_is_filled_once: slot s of comparison 4".
std::string text_on(const std::vector<storage::InvariantBreach>& breaches) {
  if (breaches.empty()) return "";
  const auto& first = breaches.front();
  return std::to_string(breaches.size()) + " rules are broken, first " + first.invariant + ": " +
         first.rows + "; `torchwatch database check` lists them";
}

}  // namespace

Status Housekeeping::look_after(std::stop_token stop) {
  const auto now = application_.services().clock.monotonic_now();
  if (next_check_ && now < *next_check_) return {};
  TW_TRY_VOID(check_database(stop));
  if (!stop.stop_requested()) next_check_ = now + kCheckEvery;
  return {};
}

Status Housekeeping::check_database(std::stop_token stop) {
  // A connection of its own: the server's threads do not wait for the many pages that are read.
  TW_TRY(const auto reader, open_reader(application_.config()));
  const auto breaches = reader->check_invariants(stop);
  if (breaches) {
    note_("database", text_on(*breaches));
    return {};
  }
  if (breaches.error().code == ErrorCode::damaged) return fail(breaches.error());
  if (breaches.error().code != ErrorCode::cancelled) note_("database", breaches.error().message);
  return {};
}

}  // namespace torchwatch::daemon
