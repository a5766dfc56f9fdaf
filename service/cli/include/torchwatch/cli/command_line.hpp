#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <stop_token>
#include <string>

#include "torchwatch/signals/orders.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::cli {

/// What the two streams are shown on. By default neither is a terminal.
struct Screens {
  terminal::Screen out = {.columns = terminal::kColumnsMax};
  /// Asked anew for each line of progress: a window may change its size.
  std::function<terminal::Screen()> err = [] { return terminal::Screen{}; };
};

/// Runs `torchwatch ARGUMENTS` and returns its exit status (see exit_status.hpp). What people and
/// machines asked for goes to `out`, everything else to `err`; with --json an error is an object on
/// `out` as well. `orders`: what signals ask meanwhile; null where there are none.
int run(std::span<const char* const> arguments, std::ostream& out, std::ostream& err,
        std::stop_token stop, const Screens& screens = {}, signals::Orders* orders = nullptr);

}  // namespace torchwatch::cli
