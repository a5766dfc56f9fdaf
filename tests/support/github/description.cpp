#include "description.hpp"

#include <iostream>

namespace torchwatch::test {
namespace {

const std::filesystem::path kSource = TORCHWATCH_SOURCE_DIR;

}  // namespace

ApiDescription own_github_description() {
  return ApiDescription::read(kSource / "tests/integration/github/github_description.json");
}

ApiDescription github_description() {
  const auto full = kSource.parent_path() / "shared/reference/github/openapi-subset.json";
  if (std::filesystem::exists(full)) {
    return ApiDescription::read(full).with_paths_of(own_github_description());
  }
  std::cout << "skipped: reference data not at hand (GitHub's own description); the project's "
               "small one is used\n";
  return own_github_description();
}

}  // namespace torchwatch::test
