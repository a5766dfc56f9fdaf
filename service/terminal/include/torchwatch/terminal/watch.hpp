#pragma once

#include <functional>
#include <iosfwd>
#include <stop_token>
#include <string>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// What is seen at a moment.
struct Sight {
  std::string text;  ///< whole
  std::string line;  ///< in brief, and the same as long as nothing has changed
};

/// Looks every two seconds and shows what is seen until `stop`: on a terminal the text, drawn over
/// the last one, as much as the window holds; elsewhere a line with its time whenever it is
/// another. Errors: those of `look`.
Status watch(std::ostream&, const Screen&, const platform::Clock&,
             const std::function<Result<Sight>()>& look, std::stop_token stop);

}  // namespace torchwatch::terminal
