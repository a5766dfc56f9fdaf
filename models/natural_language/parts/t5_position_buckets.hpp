#pragma once

#include <cmath>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// Buckets of distances of 0 and more: one each for the small half, the rest shared
/// logarithmically.
inline torch::Tensor t5_distance_buckets(const torch::Tensor& distance, std::int64_t buckets) {
  constexpr double kFarthest = 128;
  const auto singles = buckets / 2;
  const double range = std::log(kFarthest / static_cast<double>(singles));
  const auto part = torch::log(distance.to(torch::kFloat32) / singles) / range;
  auto shared = singles + (part * (buckets - singles)).to(torch::kInt64);
  shared = torch::min(shared, torch::full_like(shared, buckets - 1));
  return torch::where(distance < singles, distance, shared);
}

/// The bucket of each key seen from each query, queries x keys. Seen both ways, keys after the
/// query have the upper half of the buckets; else they lie at distance 0.
inline torch::Tensor t5_position_buckets(std::int64_t queries, std::int64_t keys,
                                         std::int64_t buckets, bool both_ways,
                                         const torch::Device& device) {
  const auto from = torch::arange(queries, device).unsqueeze(1);
  const auto to = torch::arange(keys, device).unsqueeze(0);
  const auto relative = to - from;
  if (!both_ways) {
    const auto behind = -torch::min(relative, torch::zeros_like(relative));
    return t5_distance_buckets(behind, buckets);
  }
  const auto half = buckets / 2;
  auto result = (relative > 0).to(torch::kInt64) * half;
  result += t5_distance_buckets(torch::abs(relative), half);
  return result;
}

}  // namespace torchwatch::models
