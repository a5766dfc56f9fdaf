#pragma once

#include "api_description.hpp"

namespace torchwatch::test {

/// GitHub's own description, with the paths of the project's that it lacks, where the reference
/// data is at hand; else the project's small one, which is said.
ApiDescription github_description();
/// The project's own.
ApiDescription own_github_description();

}  // namespace torchwatch::test
