#pragma once

#include <nlohmann/json.hpp>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::measuring {

/// What `torchwatch check` found, for people and for machines.
struct Checked {
  using Fit = terminal::Table::Fit;
  static constexpr std::size_t kTextMin = 24;  ///< columns in which a sentence can be read

  commands::ExitStatus status = commands::ExitStatus::done;
  std::string conclusion = {};
  nlohmann::json json = nlohmann::json::array();
  terminal::Table table{{{.fit = Fit::whole},
                         {.heading = "what", .fit = Fit::whole},
                         {.heading = "found", .least = kTextMin, .fit = Fit::wrap},
                         {.heading = "remedy", .least = kTextMin, .fit = Fit::wrap}}};
};

/// Checks the machine and what the configuration names; changes nothing.
Checked check(const config::Config&);

}  // namespace torchwatch::measuring
