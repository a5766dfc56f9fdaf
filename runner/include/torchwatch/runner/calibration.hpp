#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace torchwatch::runner {

/// Times two small pieces of work that no build of PyTorch changes, so that people can tell a
/// machine that became slower from a workload that did: `calibration_arithmetic_ns`, a chain of
/// multiplications and additions that each wait for the one before, on one core;
/// `calibration_copy_ns`, a copy of 4 MiB. Each is the least of five. Takes some milliseconds and
/// leaves the heap as it was. Where there is no memory for the copy, its name is absent.
std::map<std::string, std::int64_t> calibration_times();

}  // namespace torchwatch::runner
