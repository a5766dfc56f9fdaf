#include "torchwatch/platform/passing_folder.hpp"

#include <cstdlib>

namespace torchwatch::platform {

Result<PassingFolder> PassingFolder::make() {
  std::error_code error;
  auto name = (std::filesystem::temp_directory_path(error) / "torchwatch-XXXXXX").string();
  if (!error && mkdtemp(name.data()) != nullptr) return PassingFolder(name);
  return fail(ErrorCode::unavailable, "cannot make a temporary folder such as " + name);
}

PassingFolder::~PassingFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace torchwatch::platform
