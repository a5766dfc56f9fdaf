#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/command.hpp"

namespace torchwatch::commands {

/// A change of what is stored: a POST to the daemon where one listens, else done here.
struct Change {
  std::string path;  ///< of the endpoint
  nlohmann::json body = nlohmann::json::object();
  std::function<Status(comparison::Services&)> without_daemon;
};

/// Makes the change. Errors: the same with a daemon and without one; invalid, when the state of
/// what is changed does not allow it.
Status make(const Invocation&, const Change&);

/// Work that may take hours: handed over to the daemon where one listens, else done here.
struct Work {
  std::string path;  ///< of the endpoint
  nlohmann::json body = nlohmann::json::object();
  std::function<Outcome(SessionOfCommand&)> without_daemon;
};

/// Does the work, or prints under which number the daemon has taken it on.
Outcome carry_out(const Invocation&, config::Config, const Work&);

}  // namespace torchwatch::commands
