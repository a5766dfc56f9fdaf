#pragma once

#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {

/// What the ocean models' definitions have in common: a forward alone, and a batch that is the
/// number of points.
inline Definition ocean_definition(std::unique_ptr<Workload> (*build)(const Setup&)) {
  return {.domain = "other",
          .task = "other",
          .paper = {.infer = 1'048'576},
          .small = {.infer = 32'768},
          .batch_rule = BatchRule::fixed,
          .refusals = {.train = "the original has nothing to train"},
          .cut = "64x64x8 points",
          .build = build};
}

}  // namespace torchwatch::models
