#pragma once

#include <optional>
#include <string>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::report {

// Commands that a person pastes into a shell: words that are not plain are quoted.

/// Makes the command that compares two builds again on one benchmark, which takes minutes. Builds
/// are named as BUILD arguments are.
std::string compare_command(const std::string& baseline, const std::string& candidate,
                            const Benchmark&, std::optional<Preset>);

/// Makes the command that measures a suspect against its parent, which builds both.
std::string suspect_command(const std::string& sha, const Series&);

}  // namespace torchwatch::report
