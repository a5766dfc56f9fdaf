#pragma once

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::cli {

/// What `torchwatch check` found, for people and for machines.
struct Checked {
  ExitStatus status = ExitStatus::done;
  nlohmann::json json = nlohmann::json::array();
  terminal::Table table{{{"", terminal::Table::Align::left}, {"what"}, {"found"}, {"remedy"}}};
};

/// Checks the machine and what the configuration names; changes nothing.
Checked check(const config::Config&);

}  // namespace torchwatch::cli
