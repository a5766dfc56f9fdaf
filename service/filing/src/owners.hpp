#pragma once

#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/report/facts.hpp"

namespace torchwatch::filing {

/// Returns who is mentioned in an incident's issue, each once: [github] cc, then the owners of its
/// workloads, and of files that a commit changes which its search names.
std::vector<std::string> mentioned(const config::Config&, const report::IncidentFacts&);

}  // namespace torchwatch::filing
