#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::test {

/// What one process measured of one workload: samples in the order in which they were taken.
using RecordedProcess = std::vector<double>;
/// The processes of one night in their order; never empty.
using RecordedNight = std::vector<RecordedProcess>;

/// All recorded nights of one workload, in order.
struct RecordedSeries {
  std::string workload;
  std::vector<RecordedNight> nights;
};

/// Workloads by name; each has every night.
using Recording = std::vector<RecordedSeries>;

/// Reads a recording: a CSV file with the columns night, process, workload and ns (above 0) and,
/// if it likes, iteration, which orders the samples of a process; found by name, in any order,
/// others are passed over. How many nights, processes and samples there are, the file says.
/// Errors name the line and what is wrong there.
Result<Recording> read_recording(const std::filesystem::path& file);

/// The nights of `earlier` before those of `later`; error when their workloads differ.
Result<Recording> one_after_the_other(const Recording& earlier, const Recording& later);

/// Middle of a list that is not empty.
double median(std::vector<double> values);

/// The medians of a night's processes.
std::vector<double> process_medians(const RecordedNight& night);

/// The medians of all processes of a series in recorded order.
std::vector<double> process_medians(const RecordedSeries& series);

/// The whole recording beside the checkout; may not be there.
std::filesystem::path full_recording();

/// The part of it that belongs to the repository: three workloads of twelve.
std::filesystem::path excerpt();

}  // namespace torchwatch::test
