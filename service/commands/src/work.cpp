#include "torchwatch/commands/work.hpp"

#include "torchwatch/commands/control_client.hpp"

namespace torchwatch::commands {
namespace {

/// A change that a row's state does not allow is the asker's mistake, not the machine's.
Status as_wrong_use(Status changed) {
  if (changed || changed.error().code != ErrorCode::conflict) return changed;
  return fail(ErrorCode::invalid, changed.error().message);
}

}  // namespace

Status make(const Invocation& invocation, const Change& change) {
  TW_TRY(auto config, invocation.load_config());
  TW_TRY(const auto daemon, ControlClient::find(config));
  if (daemon) {
    const auto answer = daemon->post(change.path, change.body);
    return as_wrong_use(answer ? Status{} : Status{fail(answer.error())});
  }
  TW_TRY(auto opened, open_application(invocation, std::move(config)));
  return as_wrong_use(change.without_daemon(opened.services()));
}

Outcome carry_out(const Invocation& invocation, config::Config config, const Work& work) {
  TW_TRY(const auto daemon, ControlClient::find(config));
  if (daemon) return daemon->hand_over(invocation, work.path, work.body);
  TW_TRY(auto opened, open_application(invocation, std::move(config)));
  return work.without_daemon(opened);
}

}  // namespace torchwatch::commands
