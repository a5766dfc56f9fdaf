#include "torchwatch/conversation/inbox.hpp"

#include <utility>

#include "attending.hpp"
#include "comments.hpp"
#include "issue_changes.hpp"
#include "polling.hpp"
#include "progress_of_commands.hpp"
#include "torchwatch/github/github_api.hpp"
#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/tracker/received_store.hpp"
#include "tracker_reader.hpp"

namespace torchwatch::conversation {
namespace {

/// The pipeline's services without its repository handle, and without its progress: this is
/// another thread.
comparison::Services beside_pipeline(const comparison::Services& of,
                                     comparison::Progress& progress) {
  return {.config = of.config,
          .database = of.database,
          .executor = of.executor,
          .runners = of.runners,
          .channel = of.channel,
          .clock = of.clock,
          .random = of.random,
          .progress = progress,
          .interrupts = of.interrupts};
}

bool stops(const Error& error) {
  return nightly::consequence_of(error.code) == nightly::Consequence::stops;
}

/// What keeps GitHub from being read is a problem to tell; what stops the service is an error.
Result<std::string> problem_of(const Status& done) {
  if (done) return std::string();
  if (stops(done.error())) return fail(done.error());
  return done.error().text();
}

}  // namespace

Inbox::Inbox(Parts parts)
    : parts_(std::move(parts)), services_(beside_pipeline(parts_.services, silence_)) {}

Result<std::string> Inbox::work(std::stop_token stop) {
  auto token = parts_.token();
  if (!token) return token.error().text();
  if (*token != token_) own_login_.reset();
  token_ = *token;
  parts_.github.token = token_;
  TW_TRY(const auto api,
         github::GithubApi::create(parts_.http, services_.clock, parts_.github, stop));
  TW_TRY(const auto unknown, problem_of(find_own_login(api)));
  // Without knowing who we are, our own doings would be taken for somebody else's.
  if (!unknown.empty()) return unknown;
  TW_TRY(auto problem, problem_of(poll(api)));
  TW_TRY_VOID(attend_due(api, stop));
  TW_TRY_VOID(update_replies(services_, parts_.logger));
  if (!problem.empty()) return problem;
  storage::ReceivedStore store(services_.database);
  return why_some_wait(store);
}

Status Inbox::find_own_login(const github::GithubApi& api) {
  if (own_login_) return {};
  TW_TRY(own_login_, TrackerReader(api).own_login());
  return {};
}

Status Inbox::poll(const github::GithubApi& api) {
  const auto pace = parts_.settings.poll;
  const auto now = services_.clock.monotonic_now();
  if (pace.count() == 0 || (next_poll_ && now < *next_poll_)) return {};
  next_poll_ = now + pace;
  return look_for_changes(services_, TrackerReader(api), parts_.settings.command_prefix);
}

Status Inbox::attend_due(const github::GithubApi& api, const std::stop_token& stop) {
  const TrackerReader reader(api);
  storage::ReceivedStore store(services_.database);
  if (!std::exchange(is_begun_, true)) {
    TW_TRY_VOID(note_downfalls(store, services_.clock));
  }
  TW_TRY(const auto pending, store.pending());
  for (const auto& row : pending) {
    if (stop.stop_requested()) break;
    const bool is_comment = row.kind == storage::ReceivedKind::comment;
    TW_TRY_VOID(attend(store, services_.clock, row, [&] {
      return is_comment ? answer_comment(parts_, services_, reader, *own_login_, row)
                        : read_back(services_, reader, *own_login_, row);
    }));
  }
  return {};
}

}  // namespace torchwatch::conversation
