#include "torchwatch/canvas/strip.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace torchwatch::drawing {
namespace {

constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string_view block_for(double share) {
  const auto last = static_cast<double>(kBlocks.size() - 1);
  return kBlocks[static_cast<std::size_t>(std::llround(std::clamp(share, 0.0, 1.0) * last))];
}

}  // namespace

std::string strip(const std::vector<double>& values) {
  if (values.empty()) return "";
  const auto [least, greatest] = std::ranges::minmax(values);
  return strip(values, least, greatest);
}

std::string strip(const std::vector<double>& values, double least, double greatest) {
  const double range = greatest - least;
  std::string text;
  for (const double value : values) text += block_for(range > 0 ? (value - least) / range : 0);
  return text;
}

std::vector<double> thinned(const std::vector<double>& values, std::size_t most) {
  if (values.size() <= most) return values;
  std::vector<double> means;
  for (std::size_t i = 0; i < most; ++i) {
    const auto begin = i * values.size() / most;
    const auto end = (i + 1) * values.size() / most;
    double mean = 0;
    for (auto at = begin; at < end; ++at) mean += values[at] / static_cast<double>(end - begin);
    means.push_back(mean);
  }
  return means;
}

std::string distribution(const std::vector<std::int64_t>& samples, double low, double high,
                         std::size_t columns) {
  std::vector<double> counts(columns, 0);
  for (const auto sample : samples) {
    const double at = (static_cast<double>(sample) - low) / (high - low);
    if (!(at >= 0 && at <= 1)) continue;
    const auto column = static_cast<std::size_t>(at * static_cast<double>(columns));
    ++counts[std::min(column, columns - 1)];
  }
  const double most = std::ranges::max(counts);
  std::string text;
  for (const double count : counts) text += count > 0 ? block_for(count / most) : " ";
  return text;
}

}  // namespace torchwatch::drawing
