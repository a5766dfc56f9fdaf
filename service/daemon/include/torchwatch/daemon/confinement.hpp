#pragma once

#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::daemon {

struct Confinement {
  sandbox::Sandbox sandbox;
  std::string problem;  ///< why children run without one, and what to do; empty where they do not
};

/// Returns what every child of the service sees and never sees.
sandbox::Settings sandbox_settings(const config::Config&);

/// Opens the sandbox that [sandbox] kind asks for. Errors: unavailable (bubblewrap is demanded and
/// does not work here, with the reason).
Result<Confinement> open_sandbox(const config::Config&, process::ProcessRunner&);

}  // namespace torchwatch::daemon
