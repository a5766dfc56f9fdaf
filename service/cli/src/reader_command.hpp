#pragma once

#include <memory>

#include "commands.hpp"
#include "torchwatch/daemon/session.hpp"
#include "torchwatch/doors/clock.hpp"

namespace torchwatch::cli {

/// The configured database for reading; works beside a running daemon.
inline Result<std::unique_ptr<storage::Database>> open_reader(const Invocation& invocation) {
  TW_TRY(const auto config, invocation.load_config());
  return daemon::open_reader(config);
}

/// Wall time for people: "2026-08-16 03:04"; empty for never.
inline std::string date_and_minute(doors::WallMillis at) {
  if (at == 0) return {};
  auto text = doors::iso_utc(at).substr(0, 16);
  text[10] = ' ';
  return text;
}

}  // namespace torchwatch::cli
