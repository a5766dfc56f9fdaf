#include "torchwatch/report/reproduce.hpp"

#include <algorithm>
#include <cctype>

namespace torchwatch::report {
namespace {

bool is_plain(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
         std::string_view("._/+=,:-").find(byte) != std::string_view::npos;
}

/// " word", in single quotes where a shell would read more than a word.
std::string argument(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return " " + std::string(word);
  std::string quoted = " '";
  for (const char byte : word) quoted += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return quoted + "'";
}

std::string of_benchmark(const Benchmark& benchmark) {
  auto text = " --workload" + argument(benchmark.workload) + " --configuration" +
              argument(to_string(benchmark.configuration));
  if (benchmark.variant != Variant{}) text += " --variant" + argument(to_string(benchmark.variant));
  return text;
}

}  // namespace

std::string compare_command(const std::string& baseline, const std::string& candidate,
                            const Benchmark& benchmark, std::optional<Preset> preset) {
  auto text =
      "torchwatch compare" + argument(baseline) + argument(candidate) + of_benchmark(benchmark);
  if (preset) text += " --preset" + argument(to_string(*preset));
  return text;
}

std::string suspect_command(const std::string& sha, const Series& series) {
  return "torchwatch bisect --suspect" + argument(sha) + of_benchmark(series.benchmark) +
         " --metric" + argument(to_string(series.metric));
}

}  // namespace torchwatch::report
