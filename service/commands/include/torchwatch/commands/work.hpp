#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/command.hpp"

namespace torchwatch::commands {

/// A change of what is stored: a POST to the daemon where one listens, else done here, also beside
/// a command that works on the database.
struct Change {
  std::string path;  ///< of the endpoint
  nlohmann::json body = nlohmann::json::object();
  std::function<Status(comparison::Services&)> without_daemon;
};

/// Who asks by a command: the user of this process.
storage::Asker this_user();

/// Makes the change, and keeps who asked for it. Returns the daemon's answer; an empty object
/// without a daemon. Errors: the same with a daemon and without one; invalid, when the state of
/// what is changed does not allow it.
Result<nlohmann::json> make(const Invocation&, const Change&);

/// Work that may take hours: handed over to the daemon where one listens, else done here.
struct Work {
  std::string path;  ///< of the endpoint
  storage::RequestKind kind = storage::RequestKind::nightly;
  nlohmann::json body = nlohmann::json::object();
  std::function<Outcome(SessionOfCommand&)> without_daemon;
};

/// Names a build so that a daemon, which works in another folder, finds it: one of a folder in
/// full.
std::string build_for_daemon(const std::string& name);

/// Checks whole what is asked for, then does the work, or prints under which number the daemon has
/// taken it on. Waits for another command that works on the database. Errors: also invalid
/// (requests::check).
Outcome carry_out(const Invocation&, const config::Config&, const Work&);

}  // namespace torchwatch::commands
