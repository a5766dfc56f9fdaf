#include "torchwatch/commands/work.hpp"

#include "torchwatch/commands/control_client.hpp"

namespace torchwatch::commands {

Status make(const Invocation& invocation, const Change& change) {
  TW_TRY(auto config, invocation.load_config());
  TW_TRY(const auto daemon, ControlClient::find(config));
  if (daemon) {
    TW_TRY_VOID(daemon->post(change.path, change.body));
    return {};
  }
  TW_TRY(auto opened, open_application(invocation, std::move(config)));
  return change.without_daemon(opened.services());
}

Outcome carry_out(const Invocation& invocation, config::Config config, const Work& work) {
  TW_TRY(const auto daemon, ControlClient::find(config));
  if (daemon) return daemon->hand_over(invocation, work.path, work.body);
  TW_TRY(auto opened, open_application(invocation, std::move(config)));
  TW_TRY_VOID(reserve_disk(opened));
  return work.without_daemon(opened);
}

}  // namespace torchwatch::commands
