#pragma once

#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

/// Returns the machine classes of the cluster, in the order of the file. Without [[slurm.class]] it
/// is one that has no name, measures every configuration and asks for what [slurm] says.
std::vector<SlurmClass> slurm_classes(const Config&);

/// Returns the name of the class whose nodes measure a configuration; empty where all machines are
/// of one, which has no name. Errors: invalid (the configuration is in no class).
Result<std::string> class_of(const Config&, Configuration);

}  // namespace torchwatch::config
