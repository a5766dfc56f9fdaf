#pragma once

#include <memory>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/daemon/application.hpp"

namespace torchwatch::commands {

/// The configured database for reading; works beside a running daemon.
inline Result<std::unique_ptr<storage::Database>> open_reader(const Invocation& invocation) {
  TW_TRY(const auto config, invocation.load_config());
  return daemon::open_reader(config);
}

}  // namespace torchwatch::commands
