#include <algorithm>
#include <charconv>
#include <sstream>

#include "torchwatch/config/config.hpp"

namespace torchwatch::config {
namespace {

constexpr std::string_view kAny = "*";
constexpr double kShareMin = 0.005;
constexpr double kToleranceMin = 1e-6;  ///< of outputs, which have no noise
constexpr double kShareMax = 2.0;

tl::unexpected<Error> invalid(std::string_view text, const std::string& what) {
  return fail(ErrorCode::invalid,
              "invalid threshold \"" + std::string(text) + "\": " + what +
                  R"(; written METRIC [WORKLOAD [CONFIGURATION]] SHARE, as in "cpu_peak 0.03" or )"
                  R"("time resnet18 cpu-train 0.1", * for any)");
}

Result<double> parse_share(std::string_view text, const std::string& word, double least) {
  double share = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), share);
  const bool is_number = error == std::errc{} && end == word.data() + word.size();
  if (is_number && least <= share && share <= kShareMax) return share;
  return invalid(text, least < kShareMin ? "the share must be a number from 0.000001 to 2.0"
                                         : "the share must be a number from 0.005 to 2.0");
}

}  // namespace

bool SeriesThreshold::fits(const Series& series) const {
  return (!metric || *metric == series.metric) &&
         (workload.empty() || workload == series.benchmark.workload) &&
         (!configuration || *configuration == series.benchmark.configuration);
}

double SeriesThreshold::of_exact(double common) const {
  return metric ? threshold : std::min(common, threshold);
}

const SeriesThreshold* entry_for(const std::vector<SeriesThreshold>& entries,
                                 const Series& series) {
  const bool is_of_outputs = series.metric == Metric::output_difference;
  const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const auto& each) {
    return each.fits(series) && (each.metric || !is_of_outputs);
  });
  return found == entries.rend() ? nullptr : &*found;
}

ThresholdOf threshold_ratios(const Config& config) {
  return [detect = config.detect](const Series& series, bool is_exact) {
    if (is_of_operator(series.benchmark)) return 1 + detect.operator_threshold;
    const double common = is_exact ? detect.exact_threshold : detect.threshold;
    const auto* own = entry_for(detect.thresholds, series);
    if (own == nullptr) return 1 + common;
    return 1 + (is_exact ? own->of_exact(common) : own->threshold);
  };
}

Result<SeriesThreshold> parse_series_threshold(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() < 2 || words.size() > 4) return invalid(text, "two to four words are wanted");
  SeriesThreshold rule;
  if (words[0] != kAny) {
    TW_TRY(rule.metric, parse_judged_metric(words[0]));
  }
  if (rule.metric && is_leak(*rule.metric)) {
    return invalid(text, "a leak has no threshold, it is judged by its bytes");
  }
  if (words.size() > 2 && words[1] != kAny) rule.workload = words[1];
  if (words.size() > 3 && words[2] != kAny) {
    TW_TRY(rule.configuration, parse_configuration(words[2]));
  }
  const bool is_of_results = rule.metric == Metric::output_difference;
  TW_TRY(rule.threshold,
         parse_share(text, words.back(), is_of_results ? kToleranceMin : kShareMin));
  return rule;
}

std::string to_string(const SeriesThreshold& rule) {
  std::ostringstream out;
  out << (rule.metric ? torchwatch::to_string(*rule.metric) : kAny);
  if (!rule.workload.empty() || rule.configuration) {
    out << ' ' << (rule.workload.empty() ? std::string(kAny) : rule.workload);
  }
  if (rule.configuration) out << ' ' << torchwatch::to_string(*rule.configuration);
  out << ' ' << rule.threshold;
  return out.str();
}

}  // namespace torchwatch::config
