#include <array>

#include "parts/ocean.hpp"
#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {
namespace equation_of_state {

/// The 48 published coefficients of sea water's density as a rational function of Absolute
/// Salinity, Conservative Temperature and pressure (TEOS-10; McDougall et al. 2011), numbered
/// from 1.
constexpr std::array<double, 49> kV{0,
                                    9.998420897506056e+2,
                                    2.839940833161907e0,
                                    -3.147759265588511e-2,
                                    1.181805545074306e-3,
                                    -6.698001071123802e0,
                                    -2.986498947203215e-2,
                                    2.327859407479162e-4,
                                    -3.988822378968490e-2,
                                    5.095422573880500e-4,
                                    -1.426984671633621e-5,
                                    1.645039373682922e-7,
                                    -2.233269627352527e-2,
                                    -3.436090079851880e-4,
                                    3.726050720345733e-6,
                                    -1.806789763745328e-4,
                                    6.876837219536232e-7,
                                    -3.087032500374211e-7,
                                    -1.988366587925593e-8,
                                    -1.061519070296458e-11,
                                    1.550932729220080e-10,
                                    1.0e0,
                                    2.775927747785646e-3,
                                    -2.349607444135925e-5,
                                    1.119513357486743e-6,
                                    6.743689325042773e-10,
                                    -7.521448093615448e-3,
                                    -2.764306979894411e-5,
                                    1.262937315098546e-7,
                                    9.527875081696435e-10,
                                    -1.811147201949891e-11,
                                    -3.303308871386421e-5,
                                    3.801564588876298e-7,
                                    -7.672876869259043e-9,
                                    -4.634182341116144e-11,
                                    2.681097235569143e-12,
                                    5.419326551148740e-6,
                                    -2.742185394906099e-5,
                                    -3.212746477974189e-7,
                                    3.191413910561627e-9,
                                    -1.931012931541776e-12,
                                    -1.105097577149576e-7,
                                    6.211426728363857e-10,
                                    -1.119011592875110e-10,
                                    -1.941660213148725e-11,
                                    -1.864826425365600e-14,
                                    1.119522344879478e-14,
                                    -1.200507748551599e-15,
                                    6.057902487546866e-17};

constexpr double kPascalPerDecibar = 1e4;

/// A quantity and its derivative with respect to temperature.
struct Dual {
  torch::Tensor value;
  torch::Tensor slope;
};

Dual operator+(const Dual& x, const Dual& y) {
  return {x.value + y.value, x.slope + y.slope};
}
Dual operator-(const Dual& x, const Dual& y) {
  return {x.value - y.value, x.slope - y.slope};
}
Dual operator*(const Dual& x, const Dual& y) {
  return {x.value * y.value, x.slope * y.value + x.value * y.slope};
}
Dual operator/(const Dual& x, const Dual& y) {
  const auto value = x.value / y.value;
  return {value, (x.slope - value * y.slope) / y.value};
}

/// A factor or a summand that does not depend on temperature.
Dual operator*(const torch::Tensor& factor, const Dual& x) {
  return {factor * x.value, factor * x.slope};
}
Dual operator*(double factor, const Dual& x) {
  return {factor * x.value, factor * x.slope};
}
Dual operator+(const Dual& x, const torch::Tensor& summand) {
  return {x.value + summand, x.slope};
}
Dual operator+(double summand, const Dual& x) {
  return {summand + x.value, x.slope};
}

Dual sqrt(const Dual& x) {
  const auto value = torch::sqrt(x.value);
  return {value, x.slope / (2.0 * value)};
}
Dual log(const Dual& x) {
  return {torch::log(x.value), x.slope / x.value};
}

/// The polynomial in temperature with the coefficients `first` to `last`, by Horner's rule.
Dual polynomial(const torch::Tensor& temperature, std::size_t first, std::size_t last) {
  Dual sum{kV[last - 1] + temperature * kV[last], torch::scalar_tensor(kV[last], torch::kFloat64)};
  for (std::size_t i = last - 1; i > first; --i) {
    sum = {kV[i - 1] + temperature * sum.value, sum.value + temperature * sum.slope};
  }
  return sum;
}

/// Specific volume as a function of pressure p:
/// (g + f p + e p^2 + d p^3) / (a + 2 b p + c p^2).
struct SpecificVolume {
  SpecificVolume(const torch::Tensor& salinity, const torch::Tensor& temperature) {
    const auto p = [&](std::size_t first, std::size_t last) {
      return polynomial(temperature, first, last);
    };
    const auto root = torch::sqrt(salinity);
    a = p(1, 4) + salinity * (p(5, 7) + root * p(8, 11));
    b = 0.5 * (p(12, 14) + salinity * p(15, 16));
    c = p(17, 19) + kV[20] * salinity;
    d = p(47, 48);
    const Dual mixed{kV[46] * temperature, torch::scalar_tensor(kV[46], torch::kFloat64)};
    e = p(43, 45) + salinity * mixed;
    f = p(37, 40) + salinity * p(41, 42);
    g = p(21, 25) + salinity * (p(26, 30) + kV[36] * salinity + root * p(31, 35));
  }

  Dual a, b, c, d, e, f, g;
};

/// Dynamic enthalpy is the integral of specific volume over pressure, here in closed form: a
/// polynomial and two logarithms. Returns its derivative with respect to temperature.
torch::Tensor enthalpy_slope(const torch::Tensor& salinity, const torch::Tensor& temperature,
                             const torch::Tensor& pressure) {
  const auto& [a, b, c, d, e, f, g] = SpecificVolume(salinity, temperature);
  const auto db = d * b;
  const auto linear = f + (4.0 * (db * b / c) - d * a - 2.0 * (e * b)) / c;
  const auto constant = g + (2.0 * (db * a / c) - e * a) / c;

  const auto root = sqrt(b * b - a * c);
  const auto cp = pressure * c;
  const auto ratio = pressure * (2.0 * b + cp) / a;
  const auto other_ratio = 2.0 * (cp * root) / ((b - root) * (b + root + cp));

  const auto polynomial_part = pressure * (e - 2.0 * (db / c) + 0.5 * (pressure * d)) / c;
  const auto first_part = 0.5 * (linear / c * log(1.0 + ratio));
  const auto second_part =
      0.5 * ((constant * c - linear * b) / (c * root) * log(1.0 + other_ratio));
  return kPascalPerDecibar * (polynomial_part + first_part + second_part).slope;
}

/// The derivative of dynamic enthalpy in each point of a box of the ocean.
class EquationOfStateWorkload final : public NetworkWorkload {
 public:
  explicit EquationOfStateWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const auto box = OceanBox::of(setup.batch);
    OceanFields fields(draw(), device());
    adopt({});
    salinity_ = fields.uniform(1e-2, 10, {box.x, box.y, box.z});
    temperature_ = fields.uniform(-12, 20, {box.x, box.y, box.z});
    pressure_ = fields.uniform(0, 1000, {1, 1, box.z});
  }

 protected:
  NamedTensors forward() override {
    return {{"", enthalpy_slope(salinity_, temperature_, pressure_)}};
  }
  torch::Tensor loss() override { return {}; }

 private:
  torch::Tensor salinity_;
  torch::Tensor temperature_;
  torch::Tensor pressure_;
};

}  // namespace equation_of_state

TORCHWATCH_DEFINE(pyhpc_equation_of_state) {
  return ocean_definition(build_as<equation_of_state::EquationOfStateWorkload>);
}

}  // namespace torchwatch::models
