#include "torchwatch/canvas/axis.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::drawing {
namespace {

constexpr double kMargin = 0.04;  // of the range, on either side

/// What round numbers of a metric are multiples of: sizes are counted in powers of 1,024.
double unit_of_ticks(Metric metric, double greatest) {
  if (pass_of(metric) == Pass::timing || !has_ratio(metric)) return 1;
  double unit = 1;
  while (unit * 1024 <= greatest) unit *= 1024;
  return unit;
}

/// The least of 1, 2 and 5 times a power of ten that is not below it.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> multiples(double low, double high, double step) {
  std::vector<double> found;
  const double first = std::ceil(low / step - 1e-9);
  const auto count = static_cast<int>(std::floor(high / step + 1e-9) - first) + 1;
  for (int i = 0; i < count; ++i) found.push_back((first + i) * step);
  return found;
}

}  // namespace

double Scale::at(double value) const {
  const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
  return begin + share * (end - begin);
}

Scale scale_over(const std::vector<double>& values, double begin, double end) {
  if (values.empty()) return {0, 1, begin, end};
  const auto [least, greatest] = std::ranges::minmax(values);
  const double range = greatest - least;
  // Half a per cent around a constant: what does not move looks so.
  const double margin = range > 0 ? range * kMargin : std::max(std::abs(greatest) * 0.005, 1e-12);
  return {least - margin, greatest + margin, begin, end};
}

std::vector<double> ticks(const Scale& scale, std::size_t most, Metric metric) {
  const double unit = unit_of_ticks(metric, std::max(std::abs(scale.low), std::abs(scale.high)));
  const double range = (scale.high - scale.low) / unit;
  const auto step = round_step(range / static_cast<double>(std::max<std::size_t>(most, 1)));
  return multiples(scale.low, scale.high, step * unit);
}

namespace {

/// What of many is shown: each second one, each third one ...
std::vector<double> at_most(const std::vector<double>& all, std::size_t most) {
  const std::size_t step = (all.size() + most - 1) / most;
  std::vector<double> kept;
  for (std::size_t i = 0; i < all.size(); i += step) kept.push_back(all[i]);
  return kept;
}

}  // namespace

std::vector<double> logarithmic_ticks(const Scale& of_logarithms, std::size_t most, Metric metric) {
  constexpr double kFew = 10;  // as a factor from one end to the other
  const double low = std::exp(of_logarithms.low);
  const double high = std::exp(of_logarithms.high);
  if (high / low < kFew) return ticks({low, high}, most, metric);
  const bool is_size = pass_of(metric) != Pass::timing;
  const double base = is_size ? 2 : 10;
  std::vector<double> found;
  for (double power = std::pow(base, std::floor(std::log(low) / std::log(base))); power <= high;
       power *= base) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * power;
      const bool is_wanted = factor < 2 || !is_size;
      if (is_wanted && low <= value && value <= high) found.push_back(value);
    }
  }
  return at_most(found, std::max<std::size_t>(most, 1));
}

ChangeScale::ChangeScale(std::vector<double> ratios, double threshold, double begin, double end) {
  ratios.insert(ratios.end(), {1.0, threshold, 1 / threshold});
  for (auto& ratio : ratios) ratio = std::log(ratio);
  logarithms_ = scale_over(ratios, begin, end);
}

double ChangeScale::at(double ratio) const {
  return logarithms_.at(std::log(ratio));
}

bool ChangeScale::holds(double ratio) const {
  return logarithms_.holds(std::log(ratio));
}

std::vector<double> ChangeScale::ticks(std::size_t most) const {
  const double low = std::exp(logarithms_.low);
  const double high = std::exp(logarithms_.high);
  if (high / low < 3) {
    auto found = multiples(low - 1, high - 1, round_step((high - low) / static_cast<double>(most)));
    for (auto& each : found) each += 1;
    return found;
  }
  const auto lowest = static_cast<int>(std::floor(std::log10(low)));
  const auto highest = static_cast<int>(std::floor(std::log10(high)));
  std::vector<double> tens;
  std::vector<double> all;
  for (int power = lowest; power <= highest; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double ratio = factor * std::pow(10.0, power);
      if (ratio < low || ratio > high) continue;
      all.push_back(ratio);
      if (factor < 2) tens.push_back(ratio);
    }
  }
  return all.size() > most ? tens : all;
}

namespace {

template <typename Axis, typename Words>
void draw_all(Svg& svg, const Axis& axis, const std::vector<double>& at, double top, double y,
              const Words& words) {
  double free_from = 0;
  for (const double value : at) {
    const double x = axis.at(value);
    svg.line(x, top, x, y, "grid");
    const auto name = words(value);
    const double half = units_of(name) / 2;
    const double middle = std::clamp(x, half, std::max(half, svg.width() - half));
    if (middle - half < free_from) continue;
    free_from = middle + half + 6;
    svg.text(middle, y + 14, "quiet middle", name);
  }
}

}  // namespace

void draw_ticks(Svg& svg, const ChangeScale& axis, double top, double y, std::size_t most) {
  draw_all(svg, axis, axis.ticks(most), top, y,
           [](double ratio) { return figures::change(ratio); });
}

void draw_ticks(Svg& svg, const Scale& axis, Metric metric, double top, double y,
                std::size_t most) {
  draw_all(svg, axis, ticks(axis, most, metric), top, y,
           [metric](double value) { return figures::value(metric, value); });
}

}  // namespace torchwatch::drawing
