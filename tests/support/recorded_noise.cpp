#include "recorded_noise.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "torchwatch/records/statistics.hpp"

namespace torchwatch::test {
namespace {

/// One line of the file as far as it matters here.
struct Row {
  std::string workload;
  long comparison = 0;
  long process = 0;
  long iteration = 0;
  double ns = 0;
};

/// Places of the columns in a line.
struct Columns {
  std::size_t count = 0;
  std::size_t comparison = 0;
  std::size_t process = 0;
  std::size_t workload = 0;
  std::size_t ns = 0;
  std::optional<std::size_t> iteration;
};

using Samples = std::map<long, double>;                       ///< by iteration
using Comparisons = std::map<long, std::map<long, Samples>>;  ///< comparison, process
using ByWorkload = std::map<std::string, Comparisons>;

std::vector<std::string> fields_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> fields;
  std::size_t from = 0;
  for (auto comma = line.find(','); comma != std::string::npos; comma = line.find(',', from)) {
    fields.push_back(line.substr(from, comma - from));
    from = comma + 1;
  }
  fields.push_back(line.substr(from));
  return fields;
}

Result<Columns> columns_of(const std::string& first_line) {
  const auto names = fields_of(first_line);
  const auto find = [&](const char* name) -> std::optional<std::size_t> {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::nullopt;
    return static_cast<std::size_t>(at - names.begin());
  };
  for (const char* name : {"night", "process", "workload", "ns"}) {
    if (find(name)) continue;
    return fail(ErrorCode::invalid, std::string("its first line names no column \"") + name +
                                        "\"; needed are night, process, workload and ns");
  }
  return Columns{names.size(),      *find("night"), *find("process"),
                 *find("workload"), *find("ns"),    find("iteration")};
}

template <typename Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

Result<long> whole_number(const std::string& column, const std::string& text) {
  if (const auto value = number<long>(text); value && *value >= 0) return *value;
  return fail(ErrorCode::invalid, column + " is \"" + text + "\", not a whole number from 0 on");
}

Result<double> duration(const std::string& text) {
  const auto value = number<double>(text);
  if (value && std::isfinite(*value) && *value > 0) return *value;
  return fail(ErrorCode::invalid, "ns is \"" + text + "\", not a number above 0");
}

Result<Row> row_of(const std::string& line, const Columns& columns) {
  const auto fields = fields_of(line);
  if (fields.size() != columns.count) {
    return fail(ErrorCode::invalid, std::to_string(fields.size()) + " fields, the first line has " +
                                        std::to_string(columns.count));
  }
  Row row;
  row.workload = fields[columns.workload];
  if (row.workload.empty()) return fail(ErrorCode::invalid, "workload is empty");
  TW_TRY(row.comparison, whole_number("night", fields[columns.comparison]));
  TW_TRY(row.process, whole_number("process", fields[columns.process]));
  TW_TRY(row.ns, duration(fields[columns.ns]));
  if (columns.iteration) {
    TW_TRY(row.iteration, whole_number("iteration", fields[*columns.iteration]));
  }
  return row;
}

/// Without a column for it, the file's order is that of the samples.
Status add(Row row, bool has_iteration, ByWorkload& samples) {
  auto& of_process = samples[row.workload][row.comparison][row.process];
  if (!has_iteration) row.iteration = static_cast<long>(of_process.size());
  if (of_process.emplace(row.iteration, row.ns).second) return {};
  return fail(ErrorCode::invalid, "a second sample for " + row.workload + ", comparison " +
                                      std::to_string(row.comparison) + ", process " +
                                      std::to_string(row.process) + ", iteration " +
                                      std::to_string(row.iteration));
}

Result<ByWorkload> read_rows(std::istream& stream) {
  std::string line;
  if (!std::getline(stream, line)) return fail(ErrorCode::invalid, "the file is empty");
  TW_TRY(const auto columns, columns_of(line));
  ByWorkload samples;
  for (long number = 2; std::getline(stream, line); ++number) {
    if (line.empty() || line == "\r") continue;
    auto row = row_of(line, columns);
    const auto added = row ? add(*std::move(row), columns.iteration.has_value(), samples)
                           : Status(fail(std::move(row).error()));
    if (!added) return fail(added.error().within("line " + std::to_string(number)));
  }
  if (samples.empty()) return fail(ErrorCode::invalid, "no line follows the first one");
  return samples;
}

Status check_complete(const ByWorkload& samples) {
  std::set<long> comparisons;
  for (const auto& [workload, of_workload] : samples) {
    for (const auto& [comparison, processes] : of_workload) comparisons.insert(comparison);
  }
  for (const auto& [workload, of_workload] : samples) {
    for (const long comparison : comparisons) {
      if (of_workload.contains(comparison)) continue;
      return fail(ErrorCode::invalid, "workload " + workload + " has no run in comparison " +
                                          std::to_string(comparison));
    }
  }
  return {};
}

RecordedComparison comparison_of(const std::map<long, Samples>& processes) {
  RecordedComparison comparison;
  for (const auto& [process, samples] : processes) {
    auto& recorded = comparison.emplace_back();
    for (const auto& [iteration, ns] : samples) recorded.push_back(ns);
  }
  return comparison;
}

Result<Recording> read_stream(std::istream& stream) {
  TW_TRY(const auto samples, read_rows(stream));
  TW_TRY_VOID(check_complete(samples));
  Recording recording;
  for (const auto& [workload, comparisons] : samples) {
    auto& series = recording.emplace_back(RecordedSeries{workload, {}});
    for (const auto& [comparison, processes] : comparisons)
      series.comparisons.push_back(comparison_of(processes));
  }
  return recording;
}

}  // namespace

Result<Recording> read_recording(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) {
    const std::string why = stream ? "it is a folder" : std::strerror(errno);
    return fail(ErrorCode::not_found,
                file.string() + ": cannot be read: " + why + "; give a CSV file of recorded noise");
  }
  auto recording = read_stream(stream);
  if (!recording) return fail(recording.error().within(file.string()));
  return recording;
}

Result<Recording> one_after_the_other(const Recording& earlier, const Recording& later) {
  const auto same_name = [](const RecordedSeries& a, const RecordedSeries& b) {
    return a.workload == b.workload;
  };
  if (!std::ranges::equal(earlier, later, same_name)) {
    return fail(ErrorCode::invalid, "the two recordings are not of the same workloads");
  }
  Recording joined = earlier;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    joined[i].comparisons.insert(joined[i].comparisons.end(), later[i].comparisons.begin(),
                                 later[i].comparisons.end());
  }
  return joined;
}

std::vector<double> process_medians(const RecordedComparison& comparison) {
  std::vector<double> medians;
  for (const auto& process : comparison) medians.push_back(median(process));
  return medians;
}

std::vector<double> process_medians(const RecordedSeries& series) {
  std::vector<double> medians;
  for (const auto& comparison : series.comparisons) {
    for (const auto& process : comparison) medians.push_back(median(process));
  }
  return medians;
}

std::filesystem::path full_recording() {
  return std::filesystem::path(TORCHWATCH_BINARY_DIR) / "tests/recordings/nights-a.csv";
}

std::filesystem::path excerpt() {
  return std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "tests/unit/detect/process_medians.csv";
}

}  // namespace torchwatch::test
