#include "torchwatch/report/printed_output.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "torchwatch/log/log.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::report {
namespace {

constexpr std::size_t kLinesMax = 20;
constexpr std::size_t kLineMax = 200;         // characters of a line within a reason
constexpr std::size_t kBenchmarksRead = 200;  // each takes a query

bool is_of_path(char c) {
  constexpr std::string_view kOthers = "/._-+@~%#";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || kOthers.find(c) != std::string::npos;
}

/// "…/Linear.cpp" for "/srv/pytorch/Linear.cpp". The last part is a file's name if it has a dot and
/// is deep enough to be no user's folder.
std::string shortened(std::string_view word) {
  constexpr auto kDeep = 3;
  const auto depth = std::ranges::count(word, '/');
  const bool is_path = depth > 1 || (word.starts_with('/') && word.size() > 1);
  if (!is_path) return std::string(word);
  const auto name = word.substr(word.rfind('/'));
  const bool is_file = depth >= kDeep && name.find('.') != std::string::npos;
  return "…" + (is_file ? std::string(name) : "");
}

std::string without_paths(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const auto word = line.substr(0, std::ranges::find_if_not(line, is_of_path) - line.begin());
    text += shortened(word);
    line.remove_prefix(word.size());
    if (line.empty()) break;
    text += line.front();
    line.remove_prefix(1);
  }
  return text;
}

/// What a run of the build that is tried printed last; where it printed nothing, of the one before.
Result<std::string> printed_last(storage::RunReader& reader, const storage::ComparisonRow& row,
                                 const Benchmark& benchmark) {
  const storage::Owner owner{storage::OwnerKind::comparison, row.id};
  TW_TRY(auto output, reader.output_of(owner, row.candidate, benchmark));
  if (output.empty() && row.baseline) {
    TW_TRY(output, reader.output_of(owner, *row.baseline, benchmark));
  }
  const auto lines = last_lines(output);
  return lines.empty() ? std::string() : clean(lines.back(), kLineMax);
}

}  // namespace

std::vector<std::string> last_lines(std::string_view output, std::span<const std::string> secrets) {
  std::istringstream redacted(log::redact(output, secrets));
  std::vector<std::string> lines;
  for (std::string line; std::getline(redacted, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(without_paths(line));
  }
  if (lines.size() > kLinesMax)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kLinesMax));
  return lines;
}

Result<std::vector<storage::VerdictRow>> with_printed_output(
    storage::Database& database, const storage::ComparisonRow& row,
    std::vector<storage::VerdictRow> verdicts) {
  storage::RunReader reader(database);
  std::map<Benchmark, std::string> printed;
  for (auto& verdict : verdicts) {
    if (verdict.verdict != Verdict::failed) continue;
    const auto& benchmark = verdict.series.benchmark;
    if (!printed.contains(benchmark) && printed.size() < kBenchmarksRead) {
      TW_TRY(printed[benchmark], printed_last(reader, row, benchmark));
    }
    const auto line = printed.find(benchmark);
    if (line == printed.end() || line->second.empty()) continue;
    verdict.reason += (verdict.reason.empty() ? "" : "; ") + ("it printed: " + line->second);
  }
  return verdicts;
}

}  // namespace torchwatch::report
