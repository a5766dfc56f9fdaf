#include <array>

#include "parts/ocean.hpp"
#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {
namespace turbulent_kinetic_energy {

using torch::indexing::Slice;

constexpr double kTimeStep = 1.0;
constexpr double kMixing = 1.0;  ///< for energy, relative to momentum
constexpr double kDissipation = 0.7;
constexpr double kLateralMixing = 2000.0;
constexpr double kAdamsBashforth = 0.1;  ///< by which the scheme is stabilised
constexpr double kSmallestStep = 1e-20;

// Places of the time levels in a field's last dimension.
constexpr std::int64_t kNow = 0;
constexpr std::int64_t kNext = 1;
constexpr std::int64_t kBefore = 2;

/// A box of the ocean in the order in which the original draws it.
struct Ocean {
  Ocean(const OceanBox& box, OceanFields fields) {
    const std::array<std::int64_t, 3> points{box.x, box.y, box.z};
    const std::array<std::int64_t, 4> levels{box.x, box.y, box.z, 3};
    for (auto* mask : {&mask_u, &mask_v, &mask_w}) *mask = fields.mask(points);
    for (auto* width : {&dxt, &dxu}) *width = fields.normal({box.x});
    for (auto* width : {&dyt, &dyu}) *width = fields.normal({box.y});
    for (auto* height : {&dzt, &dzw}) *height = fields.normal({box.z});
    for (auto* cosine : {&cost, &cosu}) *cosine = fields.normal({box.y});
    bottom = fields.levels(box.z, {box.x, box.y});
    surface_forcing = fields.normal({box.x, box.y});
    for (auto* field : {&viscosity, &mixing_length, &forcing}) *field = fields.normal(points);
    for (auto* field : {&u, &v, &w, &tke, &dtke}) *field = fields.normal(levels);
  }

  torch::Tensor mask_u, mask_v, mask_w;
  torch::Tensor dxt, dxu, dyt, dyu, dzt, dzw, cost, cosu;
  torch::Tensor bottom;  ///< the deepest level with water, counted from 1; 0: land
  torch::Tensor surface_forcing;
  torch::Tensor viscosity, mixing_length, forcing;
  torch::Tensor u, v, w, tke, dtke;
};

/// The points of the box without two at each side.
torch::Tensor inner(const torch::Tensor& field) {
  return field.index({Slice(2, -2), Slice(2, -2)});
}

/// Diagonals and right side of a tridiagonal system for each column of water.
struct Tridiagonal {
  torch::Tensor lower, diagonal, upper, right;
};

/// Elimination downwards, substitution upwards; overwrites the diagonal and the right side.
torch::Tensor solve(const Tridiagonal& system) {
  const auto& [a, b, c, d] = system;
  const auto n = a.size(-1);
  for (std::int64_t i = 1; i < n; ++i) {
    const auto factor = a.select(-1, i) / b.select(-1, i - 1);
    b.select(-1, i) += -factor * c.select(-1, i - 1);
    d.select(-1, i) += -factor * d.select(-1, i - 1);
  }
  auto solution = torch::empty_like(a);
  solution.select(-1, -1).copy_(d.select(-1, -1) / b.select(-1, -1));
  for (std::int64_t i = n - 2; i >= 0; --i) {
    solution.select(-1, i).copy_((d.select(-1, i) - c.select(-1, i) * solution.select(-1, i + 1)) /
                                 b.select(-1, i));
  }
  return solution;
}

/// The levels of each column that hold water, and the lowest of them.
struct Columns {
  explicit Columns(const torch::Tensor& bottom, std::int64_t levels) {
    const auto lowest = bottom.unsqueeze(2);
    const auto land = lowest >= 0;
    edge = land & (along_z(torch::arange(levels, bottom.device())) == lowest);
    water = land & (along_z(torch::arange(levels, bottom.device())) >= lowest);
  }

  torch::Tensor edge, water;
};

/// The system of vertical mixing and dissipation, before land is taken into account;
/// `diagonal_edge` is the diagonal in a column's lowest level.
struct VerticalSystem {
  Tridiagonal system;
  torch::Tensor diagonal_edge;
};

VerticalSystem vertical_system(const Ocean& ocean, const torch::Tensor& tke,
                               const torch::Tensor& root) {
  const auto like = torch::zeros_like(inner(ocean.mask_u));
  const auto viscosity = inner(ocean.viscosity);
  const auto length = inner(ocean.mixing_length);
  const auto speed = inner(root);
  const auto half_top = 0.5 * ocean.dzw[-1];

  auto delta = torch::zeros_like(like);
  delta.slice(2, 0, -1).copy_(kTimeStep / along_z(ocean.dzt.slice(0, 1)) * kMixing * 0.5 *
                              (viscosity.slice(2, 0, -1) + viscosity.slice(2, 1)));
  const auto below = delta.slice(2, 0, -2);
  const auto middle_height = along_z(ocean.dzw.slice(0, 1, -1));

  auto lower = torch::zeros_like(like);
  lower.slice(2, 1, -1).copy_(-below / middle_height);
  lower.select(2, -1).copy_(-delta.select(2, -2) / half_top);

  auto diagonal = torch::zeros_like(like);
  diagonal.slice(2, 1, -1).copy_(1 + (delta.slice(2, 1, -1) + below) / middle_height +
                                 kTimeStep * kDissipation * speed.slice(2, 1, -1) /
                                     length.slice(2, 1, -1));
  diagonal.select(2, -1).copy_(1 + delta.select(2, -2) / half_top +
                               kTimeStep * kDissipation / length.select(2, -1) *
                                   speed.select(2, -1));
  const auto edge = 1 + delta / along_z(ocean.dzw) + kTimeStep * kDissipation / length * speed;

  auto upper = torch::zeros_like(like);
  upper.slice(2, 0, -1).copy_(-delta.slice(2, 0, -1) / along_z(ocean.dzw.slice(0, 0, -1)));

  auto right = torch::zeros_like(like);
  right.copy_(inner(tke.select(3, kNow)) + kTimeStep * inner(ocean.forcing));
  right.select(2, -1) += kTimeStep * inner(ocean.surface_forcing) / half_top;
  return {.system = {.lower = lower, .diagonal = diagonal, .upper = upper, .right = right},
          .diagonal_edge = edge};
}

/// Outside the water a column's equations say nothing; at its bottom nothing comes from below.
Tridiagonal within(const Columns& columns, const VerticalSystem& all) {
  const auto& [lower, diagonal, upper, right] = all.system;
  auto wet_diagonal = torch::where(columns.water, diagonal, 1.0);
  wet_diagonal = torch::where(columns.edge, all.diagonal_edge, wet_diagonal);
  return {columns.water * lower * torch::logical_not(columns.edge), wet_diagonal,
          columns.water * upper, columns.water * right};
}

void mix_vertically(const Ocean& ocean, const torch::Tensor& tke) {
  const auto zero = constant(0.0F, tke.device());
  const auto root = torch::sqrt(torch::maximum(zero, tke.select(3, kNow)));
  const Columns columns(inner(ocean.bottom) - 1, ocean.mask_u.size(2));
  const auto solution = solve(within(columns, vertical_system(ocean, tke, root)));
  const auto next = inner(tke.select(3, kNext));
  next.copy_(torch::where(columns.water, solution, next));
}

/// Sets the energy to 0 where the surface took more than there was. Returns the energy added.
torch::Tensor correct_surface(const Ocean& ocean, const torch::Tensor& tke) {
  // Single precision, as in the original.
  auto added = torch::zeros({tke.size(0), tke.size(1)}, tke.device());
  const auto surface = inner(tke.select(3, kNext)).select(2, -1);
  inner(added).copy_(torch::where(surface < 0.0, -surface * 0.5 * ocean.dzw[-1] / kTimeStep, 0.0));
  surface.copy_(torch::maximum(constant(0.0F, tke.device()), surface));
  return added;
}

/// Flows of energy through the eastern, northern and upper faces.
struct Fluxes {
  explicit Fluxes(const torch::Tensor& like)
      : east(torch::zeros_like(like)),
        north(torch::zeros_like(like)),
        top(torch::zeros_like(like)) {}

  torch::Tensor east, north, top;
};

/// The flow into each inner cell from the west and from the south, less the flow out.
struct Inflow {
  Inflow(const Ocean& ocean, const Fluxes& fluxes) {
    const Slice all(2, -2);
    const auto cosine = along_y(ocean.cost.index({all}));
    east = (inner(fluxes.east) - fluxes.east.index({Slice(1, -3), all})) /
           (cosine * along_x(ocean.dxt.index({all})));
    north = (inner(fluxes.north) - fluxes.north.index({all, Slice(1, -3)})) /
            (cosine * along_y(ocean.dyt.index({all})));
  }

  torch::Tensor east, north;
};

torch::Tensor step(const torch::Tensor& field, std::int64_t dimension) {
  return field.slice(dimension, 1) - field.slice(dimension, 0, -1);
}

void mix_laterally(const Ocean& ocean, const torch::Tensor& tke, Fluxes& fluxes) {
  const auto now = tke.select(3, kNow);
  fluxes.east.slice(0, 0, -1).copy_(kLateralMixing * step(now, 0) /
                                    (along_y(ocean.cost) * along_x(ocean.dxu.slice(0, 0, -1))) *
                                    ocean.mask_u.slice(0, 0, -1));
  fluxes.east.select(0, -1).fill_(0.0);
  fluxes.north.slice(1, 0, -1).copy_(
      kLateralMixing * step(now, 1) / along_y(ocean.dyu.slice(0, 0, -1)) *
      ocean.mask_v.slice(1, 0, -1) * along_y(ocean.cosu.slice(0, 0, -1)));
  fluxes.north.select(1, -1).fill_(0.0);
  const Inflow inflow(ocean, fluxes);
  inner(tke.select(3, kNext)) += kTimeStep * inner(ocean.mask_w) * (inflow.east + inflow.north);
}

/// The superbee limiter.
torch::Tensor limiter(const torch::Tensor& ratio) {
  const auto device = ratio.device();
  return torch::maximum(constant(0.0F, device),
                        torch::maximum(torch::minimum(constant(1.0F, device), 2 * ratio),
                                       torch::minimum(constant(2.0F, device), ratio)));
}

/// The transport of energy along one dimension, without two points at each side of the others.
struct Current {
  std::int64_t dimension;
  torch::Tensor velocity;
  torch::Tensor energy;
  torch::Tensor mask;       ///< for the faces between cells
  torch::Tensor width;      ///< for the cells
  torch::Tensor narrowing;  ///< for the faces towards a pole; undefined: none
};

/// Second order where energy is smooth, first order where it is not.
torch::Tensor superbee_flux(const Current& current) {
  const auto k = current.dimension;
  const auto& x = current.energy;
  const auto& mask = current.mask;
  const auto velocity = current.velocity.slice(k, 1, -2);
  const auto transport = current.narrowing.defined() ? current.narrowing * velocity : velocity;
  const auto courant = torch::abs(transport * kTimeStep / current.width);
  const auto after = (x.slice(k, 3) - x.slice(k, 2, -1)) * mask.slice(k, 2, -1);
  const auto here = (x.slice(k, 2, -1) - x.slice(k, 1, -2)) * mask.slice(k, 1, -2);
  const auto before = (x.slice(k, 1, -2) - x.slice(k, 0, -3)) * mask.slice(k, 0, -3);
  const auto upwind = torch::where(velocity > 0.0, before, after);
  const auto limit =
      limiter(upwind / torch::where(torch::abs(here) < kSmallestStep, kSmallestStep, here));
  return transport * (x.slice(k, 2, -1) + x.slice(k, 1, -2)) * 0.5 -
         torch::abs(transport) * ((1.0 - limit) + courant * limit) * here * 0.5;
}

/// Open where both neighbours are water.
torch::Tensor open_faces(const torch::Tensor& mask, std::int64_t dimension) {
  auto open = torch::zeros_like(mask);
  open.slice(dimension, 0, -1).copy_(mask.slice(dimension, 1) * mask.slice(dimension, 0, -1));
  return open;
}

/// The field with an empty level below and one above.
torch::Tensor between_empty_levels(const torch::Tensor& field) {
  auto padded = torch::zeros({field.size(0), field.size(1), field.size(2) + 2}, field.options());
  padded.slice(2, 1, -1).copy_(field);
  return padded;
}

void advect(const Ocean& ocean, const torch::Tensor& tke, Fluxes& fluxes) {
  const Slice all;
  const Slice most(2, -2);
  const Slice face(1, -2);
  const auto now = tke.select(3, kNow);

  const auto middle_y = [&](const torch::Tensor& field) { return field.index({all, most}); };
  fluxes.east.fill_(0.0);
  fluxes.east.index({face, most})
      .copy_(superbee_flux({0,
                            middle_y(ocean.u.select(3, kNow)),
                            middle_y(now),
                            middle_y(open_faces(ocean.mask_w, 0)),
                            along_y(ocean.cost.index({most})) * along_x(ocean.dxt.index({face})),
                            {}}));

  const auto middle_x = [&](const torch::Tensor& field) { return field.index({most}); };
  fluxes.north.fill_(0.0);
  fluxes.north.index({most, face})
      .copy_(superbee_flux({1, middle_x(ocean.v.select(3, kNow)), middle_x(now),
                            middle_x(open_faces(ocean.mask_w, 1)),
                            along_y((ocean.cost * ocean.dyt).index({face})),
                            along_y(ocean.cosu.index({face}))}));

  const auto column = [](const torch::Tensor& field) { return inner(between_empty_levels(field)); };
  fluxes.top.fill_(0.0);
  inner(fluxes.top)
      .slice(2, 0, -1)
      .copy_(superbee_flux({2,
                            column(ocean.w.select(3, kNow)),
                            column(now),
                            column(open_faces(ocean.mask_w, 2)),
                            along_z(ocean.dzw.slice(0, 0, -1)),
                            {}}));
}

/// Writes what advection changes into `change`.
void collect(const Ocean& ocean, const Fluxes& fluxes, const torch::Tensor& change) {
  const Inflow inflow(ocean, fluxes);
  inner(change).copy_(inner(ocean.mask_w) * (-inflow.east - inflow.north));
  const auto& top = fluxes.top;
  change.select(2, 0) += -top.select(2, 0) / ocean.dzw[0];
  change.slice(2, 1, -1) +=
      -(top.slice(2, 1, -1) - top.slice(2, 0, -2)) / ocean.dzw.slice(0, 1, -1);
  change.select(2, -1) += -(top.select(2, -1) - top.select(2, -2)) / (0.5 * ocean.dzw[-1]);
}

/// Energy, its tendency and the correction at the surface after one time step.
struct Integrated {
  torch::Tensor tke, dtke, surface_correction;
};

Integrated integrate(const Ocean& ocean) {
  // The original's inputs are not overwritten either.
  const auto tke = ocean.tke.clone();
  const auto dtke = ocean.dtke.clone();
  Fluxes fluxes(ocean.mask_u);
  mix_vertically(ocean, tke);
  const auto correction = correct_surface(ocean, tke);
  mix_laterally(ocean, tke, fluxes);
  advect(ocean, tke, fluxes);
  const auto change = dtke.select(3, kNow);
  collect(ocean, fluxes, change);
  tke.select(3, kNext) += kTimeStep * ((1.5 + kAdamsBashforth) * change -
                                       (0.5 + kAdamsBashforth) * dtke.select(3, kBefore));
  return {tke, dtke, correction};
}

class TurbulentKineticEnergyWorkload final : public NetworkWorkload {
 public:
  explicit TurbulentKineticEnergyWorkload(const Setup& setup)
      : NetworkWorkload(setup), ocean_(OceanBox::of(setup.batch), OceanFields(draw(), device())) {
    adopt({});
  }

 protected:
  NamedTensors forward() override {
    const auto done = integrate(ocean_);
    return {{"tke", done.tke}, {"dtke", done.dtke}, {"tke_surf_corr", done.surface_correction}};
  }
  torch::Tensor loss() override { return {}; }

 private:
  Ocean ocean_;
};

}  // namespace turbulent_kinetic_energy

TORCHWATCH_DEFINE(pyhpc_turbulent_kinetic_energy) {
  return ocean_definition(build_as<turbulent_kinetic_energy::TurbulentKineticEnergyWorkload>);
}

}  // namespace torchwatch::models
