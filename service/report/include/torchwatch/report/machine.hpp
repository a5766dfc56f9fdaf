#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "torchwatch/runs/machine_conditions.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::report {

/// Makes {"id", "name"} of a machine class; null where there is none.
nlohmann::json json_of(const std::optional<storage::MachineClass>&);

/// Makes a machine's members, without "url": what it is, all facts, its class, its runs.
nlohmann::json json_of(const storage::MachineRow&);

/// Makes {"runs", "temperature", "load", "stolen_share", "arithmetic_ns", "copy_ns"}: what a
/// machine's newest runs state of it; temperatures in degrees Celsius; null where none tells it.
nlohmann::json json_of(const storage::MachineConditions&);

}  // namespace torchwatch::report
