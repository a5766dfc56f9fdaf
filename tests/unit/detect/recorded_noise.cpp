#include "recorded_noise.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <tuple>

namespace torchwatch::detect {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

std::size_t column(const std::vector<std::string>& header, const std::string& name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace

std::filesystem::path full_recording() {
  return std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "../shared/reference/noise/nights-a.csv";
}

std::filesystem::path excerpt() {
  return std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "tests/unit/detect/process_medians.csv";
}

RecordedRuns read_recording(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return {};
  const auto header = fields_of(line);
  const auto night = column(header, "night");
  const auto process = column(header, "process");
  const auto workload = column(header, "workload");
  const auto ns = column(header, "ns");
  std::map<std::tuple<std::string, int, int>, std::vector<double>> samples;
  while (std::getline(stream, line)) {
    const auto row = fields_of(line);
    if (row.size() != header.size()) return {};
    samples[{row[workload], std::stoi(row[night]), std::stoi(row[process])}].push_back(
        std::stod(row[ns]));
  }
  RecordedRuns runs;
  for (const auto& [key, values] : samples) runs[std::get<0>(key)].push_back(median(values));
  return runs;
}

}  // namespace torchwatch::detect
