#include <array>
#include <cmath>

#include "parts/ocean.hpp"
#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {
namespace isoneutral_mixing {

using torch::indexing::None;
using torch::indexing::Slice;

constexpr double kReferenceDensity = 1024.0;
constexpr double kThermalExpansion = 1.67e-4;
constexpr double kThermalExpansionGrowth = 1e-5;  ///< with temperature
constexpr double kThermalExpansionPressure = 1.1e-8;
constexpr double kHalineContraction = 0.78e-3;
constexpr double kReferenceTemperature = 283.0 - 273.15;
constexpr double kGravity = 9.81;
constexpr double kSteepestSlope = 1e-3;
constexpr double kSlopeWidth = 1e-3;  ///< within which mixing is tapered
constexpr double kNoDensityGradient = -1e-20;
constexpr float kSteepDiffusivity = 50.0F;

/// A box of water in the order in which the original draws it. Time levels and the directions of a
/// slope lie in the last dimensions.
struct Water {
  Water(const OceanBox& box, OceanFields fields) {
    const std::array<std::int64_t, 3> points{box.x, box.y, box.z};
    const std::array<std::int64_t, 4> levels{box.x, box.y, box.z, 3};
    for (auto* mask : {&mask_t, &mask_u, &mask_v, &mask_w}) *mask = fields.mask(points);
    for (auto* width : {&dxt, &dxu}) *width = fields.normal({box.x});
    for (auto* width : {&dyt, &dyu}) *width = fields.normal({box.y});
    for (auto* height : {&dzt, &dzw, &zt}) *height = fields.normal({box.z});
    for (auto* cosine : {&cost, &cosu}) *cosine = fields.normal({box.y});
    k_iso = fields.normal(points);
    fields.normal(points);  // drawn by the original and not used either
    for (auto* k : {&k_11, &k_22, &k_33}) *k = fields.normal(points);
    for (auto* tracer : {&salt, &temp}) *tracer = fields.normal(levels);
    for (auto* slopes : {&ai_ez, &ai_nz, &ai_bx, &ai_by}) {
      *slopes = torch::zeros({box.x, box.y, box.z, 2, 2}, k_iso.options());
    }
  }

  torch::Tensor mask_t, mask_u, mask_v, mask_w;
  torch::Tensor dxt, dxu, dyt, dyu, dzt, dzw, zt, cost, cosu;
  torch::Tensor k_iso, k_11, k_22, k_33;
  torch::Tensor salt, temp;
  torch::Tensor ai_ez, ai_nz, ai_bx, ai_by;
};

/// A tracer's gradients at the eastern, northern and upper faces of its cells.
struct Gradients {
  torch::Tensor x, y, z;
};

/// The derivatives of density by temperature and salt, and the gradients of both.
struct Density {
  torch::Tensor by_temperature;
  torch::Tensor by_salt;
  Gradients temperature;
  Gradients salt;
};

/// The difference of neighbours along a dimension.
torch::Tensor step(const torch::Tensor& field, std::int64_t dimension) {
  return field.slice(dimension, 1) - field.slice(dimension, 0, -1);
}

Gradients gradients_of(const torch::Tensor& tracer, const Water& water) {
  Gradients gradients{torch::zeros_like(water.k_11), torch::zeros_like(water.k_11),
                      torch::zeros_like(water.k_11)};
  gradients.z.slice(2, 0, -1).copy_(water.mask_w.slice(2, 0, -1) * step(tracer, 2) /
                                    along_z(water.dzw.slice(0, 0, -1)));
  gradients.x.slice(0, 0, -1).copy_(water.mask_u.slice(0, 0, -1) * step(tracer, 0) /
                                    (along_x(water.dxu.slice(0, 0, -1)) * along_y(water.cost)));
  gradients.y.slice(1, 0, -1).copy_(water.mask_v.slice(1, 0, -1) * step(tracer, 1) /
                                    along_y(water.dyu.slice(0, 0, -1)));
  return gradients;
}

Density density_of(const Water& water) {
  const auto temp = water.temp.select(3, 0);
  const auto salt = water.salt.select(3, 0);
  const auto height = -torch::abs(water.zt);
  const auto expansion =
      kThermalExpansionGrowth * (temp - kReferenceTemperature) +
      kThermalExpansion * (1 - kThermalExpansionPressure * kGravity * height * kReferenceDensity);
  const auto contraction = kHalineContraction * kReferenceDensity * torch::ones_like(temp);
  return {water.mask_t * (-expansion * kReferenceDensity), water.mask_t * contraction,
          gradients_of(temp, water), gradients_of(salt, water)};
}

/// Less mixing along steep slopes.
torch::Tensor taper_of(const torch::Tensor& slope) {
  return 0.5 * (1.0 + torch::tanh((-torch::abs(slope) + kSteepestSlope) / kSlopeWidth));
}

/// The slope of a surface of equal density, where density falls with height.
torch::Tensor slope_of(const torch::Tensor& sideways, const torch::Tensor& upwards) {
  const auto zero = constant(0.0F, upwards.device());
  return -sideways / (torch::min(upwards, zero) + kNoDensityGradient);
}

using Window = std::array<Slice, 2>;  ///< points along longitude and latitude

torch::Tensor at(const torch::Tensor& field, const Window& window, const Slice& depths) {
  return field.index({window[0], window[1], depths});
}

/// The points of the box without two at each side; along `axis` one more at the beginning, and all
/// moved by `shift`.
Window faces(std::size_t axis, std::int64_t shift) {
  Window window{Slice(2, -2), Slice(2, -2)};
  window[axis] = Slice(1 + shift, -2 + shift);
  return window;
}

/// The same without the additional point.
Window cells(std::size_t axis, std::int64_t shift) {
  Window window{Slice(2, -2), Slice(2, -2)};
  window[axis] = Slice(1 + shift, -3 + shift);
  return window;
}

/// The eastern or northern faces: their axis, mask and gradients, and the results computed there.
struct SideFace {
  std::size_t axis;
  const torch::Tensor& mask;
  const torch::Tensor& temperature_gradient;
  const torch::Tensor& salt_gradient;
  torch::Tensor& slopes;
  torch::Tensor& diffusivity;
};

/// The mean of the cells that meet in a side face, in its upper part.
torch::Tensor diffusivity_at(const Water& water, std::size_t axis) {
  const auto& k = water.k_iso;
  const auto here = faces(axis, 0);
  const auto next = faces(axis, 1);
  const Slice lower(None, -1);
  const Slice upper(1, None);
  auto mean = torch::zeros_like(water.k_11);
  at(mean, here, upper)
      .copy_(0.25 *
             (at(k, here, upper) + at(k, here, lower) + at(k, next, upper) + at(k, next, lower)));
  const Slice bottom(0, 1);
  at(mean, here, bottom).copy_(0.5 * (at(k, here, bottom) + at(k, next, bottom)));
  return mean;
}

/// Computes the mixing through the eastern or northern faces, and the slopes there: four for each
/// face, seen from both cells, upwards and downwards.
void mix_through(const SideFace& face, const Density& density, const Water& water) {
  const auto depth = water.k_11.size(2);
  const auto here = faces(face.axis, 0);
  const auto mean = diffusivity_at(water, face.axis);
  const auto steep = constant(kSteepDiffusivity, mean.device());
  const auto sum = at(torch::zeros_like(water.k_11), here, Slice());
  for (std::int64_t down = 0; down < 2; ++down) {
    const Slice depths(1 - down, None);
    const Slice gradient_depths(None, depth - 1 + down);
    const auto mask = at(face.mask, here, depths);
    for (std::int64_t side = 0; side < 2; ++side) {
      const auto cell = faces(face.axis, side);
      const auto by_temperature = at(density.by_temperature, cell, depths);
      const auto by_salt = at(density.by_salt, cell, depths);
      const auto sideways = by_temperature * at(face.temperature_gradient, here, depths) +
                            by_salt * at(face.salt_gradient, here, depths);
      const auto upwards = by_temperature * at(density.temperature.z, cell, gradient_depths) +
                           by_salt * at(density.salt.z, cell, gradient_depths);
      const auto slope = slope_of(sideways, upwards);
      const auto taper = taper_of(slope);
      sum.slice(2, 1 - down) += along_z(water.dzw.index({gradient_depths})) * mask *
                                torch::max(steep, at(mean, here, depths) * taper);
      at(face.slopes.select(4, down).select(3, side), here, depths).copy_(taper * slope * mask);
    }
  }
  at(face.diffusivity, here, Slice()).copy_(sum / (4.0 * along_z(water.dzt)));
}

/// Seen from the upper faces, a direction along which slopes are looked for.
struct UpperFace {
  std::size_t axis;
  const torch::Tensor& temperature_gradient;
  const torch::Tensor& salt_gradient;
  torch::Tensor& slopes;
};

/// The part of the vertical mixing due to slopes in one direction, seen upwards or downwards.
torch::Tensor vertical_mixing(const UpperFace& face, std::int64_t down, const Density& density,
                              const Water& water) {
  const auto depth = water.k_11.size(2);
  const Window inner{Slice(2, -2), Slice(2, -2)};
  const Slice below(None, -1);
  const Slice depths(down, depth - 1 + down);
  const auto by_temperature = at(density.by_temperature, inner, depths);
  const auto by_salt = at(density.by_salt, inner, depths);
  const auto upwards = by_temperature * at(density.temperature.z, inner, below) +
                       by_salt * at(density.salt.z, inner, below);
  const auto mask = at(water.mask_w, inner, below);
  auto sum = torch::zeros_like(mask);
  for (std::int64_t side = 0; side < 2; ++side) {
    const auto cell = cells(face.axis, side);
    const auto sideways = by_temperature * at(face.temperature_gradient, cell, depths) +
                          by_salt * at(face.salt_gradient, cell, depths);
    const auto slope = slope_of(sideways, upwards);
    const auto taper = taper_of(slope);
    const auto width = face.axis == 0
                           ? along_x(water.dxu.index({cell[0]}))
                           : along_y(water.cosu.index({cell[1]}) * water.dyu.index({cell[1]}));
    sum += width * at(water.k_iso, inner, below) * taper * slope.pow(2) * mask;
    at(face.slopes.select(4, down).select(3, side), inner, below).copy_(taper * slope * mask);
  }
  return sum;
}

/// The mixing tensor of tracers along surfaces of equal density.
void mix(Water& water) {
  const auto density = density_of(water);
  mix_through({0, water.mask_u, density.temperature.x, density.salt.x, water.ai_ez, water.k_11},
              density, water);
  mix_through({1, water.mask_v, density.temperature.y, density.salt.y, water.ai_nz, water.k_22},
              density, water);

  const UpperFace eastward{0, density.temperature.x, density.salt.x, water.ai_bx};
  const UpperFace northward{1, density.temperature.y, density.salt.y, water.ai_by};
  const auto sum_x =
      vertical_mixing(eastward, 0, density, water) + vertical_mixing(eastward, 1, density, water);
  const auto sum_y =
      vertical_mixing(northward, 0, density, water) + vertical_mixing(northward, 1, density, water);
  const Slice inner(2, -2);
  water.k_33.index({inner, inner, Slice(None, -1)})
      .copy_(sum_x / (4 * along_x(water.dxt.index({inner}))) +
             sum_y / (4 * along_y(water.dyt.index({inner})) * along_y(water.cost.index({inner}))));
  water.k_33.index({inner, inner, -1}).fill_(0.0);
}

class IsoneutralMixingWorkload final : public NetworkWorkload {
 public:
  explicit IsoneutralMixingWorkload(const Setup& setup)
      : NetworkWorkload(setup), water_(OceanBox::of(setup.batch), OceanFields(draw(), device())) {
    adopt({});
  }

 protected:
  NamedTensors forward() override {
    mix(water_);
    return {{"K_11", water_.k_11},   {"K_22", water_.k_22},   {"K_33", water_.k_33},
            {"Ai_ez", water_.ai_ez}, {"Ai_nz", water_.ai_nz}, {"Ai_bx", water_.ai_bx},
            {"Ai_by", water_.ai_by}};
  }
  torch::Tensor loss() override { return {}; }

 private:
  Water water_;
};

}  // namespace isoneutral_mixing

TORCHWATCH_DEFINE(pyhpc_isoneutral_mixing) {
  return ocean_definition(build_as<isoneutral_mixing::IsoneutralMixingWorkload>);
}

}  // namespace torchwatch::models
