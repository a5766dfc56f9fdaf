#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::test {

/// What one process measured of one workload: samples in the order in which they were taken.
using RecordedProcess = std::vector<double>;
/// The processes of one comparison in their order; never empty.
using RecordedComparison = std::vector<RecordedProcess>;

/// All recorded comparisons of one workload, in order.
struct RecordedSeries {
  std::string workload;
  std::vector<RecordedComparison> comparisons;
};

/// Workloads by name; each has every comparison.
using Recording = std::vector<RecordedSeries>;

/// Reads a recording: a CSV file with the columns comparison, process, workload and ns (above 0)
/// and, if it likes, iteration, which orders the samples of a process; found by name, in any order,
/// others are passed over. How many comparisons, processes and samples there are, the file says.
/// Errors name the line and what is wrong there.
Result<Recording> read_recording(const std::filesystem::path& file);

/// The comparisons of `earlier` before those of `later`; error when their workloads differ.
Result<Recording> one_after_the_other(const Recording& earlier, const Recording& later);

/// The medians of a comparison's processes.
std::vector<double> process_medians(const RecordedComparison& comparison);

/// The medians of all processes of a series in recorded order.
std::vector<double> process_medians(const RecordedSeries& series);

/// The whole recording, which configuring the build unpacks (tests/recordings/README.md).
std::filesystem::path full_recording();

/// A small part of it for quick tests: the process medians of three workloads.
std::filesystem::path excerpt();

}  // namespace torchwatch::test
