#pragma once

#include "problems.hpp"
#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

/// Gives each [[slurm.class]] what it leaves to [slurm], and [suite] configurations, where the file
/// does not set them, those of all classes. Adds what is wrong with the classes together.
void fit_classes(const toml::table& root, Config&, Problems&);

}  // namespace torchwatch::config
