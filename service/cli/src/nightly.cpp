#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "night_output.hpp"
#include "session_command.hpp"
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::cli {
namespace {

struct Options {
  std::string baseline;
  std::string candidate;
};

Result<std::vector<storage::NightRow>> due_nights(SessionOfCommand& opened, const Options& options,
                                                  std::stop_token stop) {
  auto& workshop = opened.workshop();
  if (options.candidate.empty()) return nightly::discover_nights(workshop, stop);
  TW_TRY(const auto candidate, daemon::resolve_build(*opened.session, options.candidate, stop));
  TW_TRY(const auto baseline, daemon::resolve_build(*opened.session, options.baseline, stop));
  TW_TRY(auto night, nightly::open_explicit_night(workshop, candidate.id, baseline.id, true));
  return std::vector{std::move(night)};
}

/// A build's comparison with itself is of the service, not of the build: nobody asks for it here.
bool is_self_test(const storage::NightRow& night) {
  return night.kind == storage::NightKind::self_test;
}

/// Where nothing else was due the newest night is shown, so that asking again is harmless and
/// tells.
Result<std::vector<storage::NightRow>> newest_night(storage::Database& database) {
  TW_TRY(const auto rows, storage::NightStore(database).list(50));
  for (const auto& row : rows) {
    if (row.kind == storage::NightKind::nightly && row.baseline) return std::vector{row};
  }
  return rows.empty() ? rows : std::vector{rows.front()};
}

Result<ExitStatus> show(const Invocation& invocation, storage::Database& database,
                        const std::vector<storage::NightRow>& nights) {
  auto status = ExitStatus::done;
  auto array = nlohmann::json::array();
  for (const auto& night : nights) {
    TW_TRY(const auto output, gather(database, night));
    status = worse(status, exit_status_of(output));
    if (invocation.json) {
      array.push_back(to_json(database, output));
    } else {
      TW_TRY_VOID(print(invocation.out, database, output));
    }
  }
  if (invocation.json) {
    // One night is the usual case and its own object; several are a list under a name.
    const bool one = array.size() == 1;
    invocation.out << (one ? array[0] : nlohmann::json{{"nights", array}}).dump(2) << '\n';
  }
  return status;
}

Outcome run_nightly(const Invocation& invocation, const Options& options) {
  if (options.candidate.empty() != options.baseline.empty()) {
    return fail(ErrorCode::invalid, "--baseline and --candidate belong together");
  }
  TW_TRY(auto opened, open_session(invocation));
  auto& workshop = opened.workshop();
  TW_TRY_VOID(opened.session->lock_machine());
  TW_TRY(auto nights, due_nights(opened, options, invocation.stop));
  TW_TRY(auto outbox, daemon::Outbox::open(*opened.session));
  const auto deliver = [&]() -> Status {
    TW_TRY_VOID(outbox.deliver(invocation.stop));
    return {};
  };
  TW_TRY(nights, nightly::carry_out_nights(workshop, nights, deliver, invocation.stop));
  TW_TRY_VOID(deliver());
  const bool nothing_was_due = nights.empty();
  std::erase_if(nights, is_self_test);
  if (nights.empty()) {
    TW_TRY(nights, newest_night(workshop.database));
  }
  if (nights.empty()) {
    return fail(ErrorCode::not_found, "the channel has no build yet; see [channel] in " +
                                          invocation.config_file.string());
  }
  if (nothing_was_due) {
    opened.progress->note("nothing is due: every nightly has its verdict; this is the newest");
  }
  return show(invocation, workshop.database, nights);
}

}  // namespace

void add_nightly(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto& command = commands.add(
      "nightly",
      "Carry out every night that is due, now: measure, judge, search the culprit, report",
      [options](const Invocation& invocation) { return run_nightly(invocation, *options); });
  command.add_option("--baseline", options->baseline,
                     "Compare against this BUILD (folder, name in the channel, release) ...");
  command.add_option("--candidate", options->candidate, "... this one, whatever is due");
}

}  // namespace torchwatch::cli
