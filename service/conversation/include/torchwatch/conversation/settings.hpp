#pragma once

#include <chrono>
#include <string>

#include "torchwatch/config/config.hpp"

namespace torchwatch::conversation {

struct Settings {
  std::string command_prefix = "/";
  std::chrono::seconds poll{300};  ///< from one look at the tracker's lists to the next; 0: never
  config::Config::Commands rights{};  ///< who may give which command, and how often
};

}  // namespace torchwatch::conversation
