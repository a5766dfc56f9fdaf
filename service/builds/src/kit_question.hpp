#pragma once

#include <string>

#include "kit_folder.hpp"

namespace torchwatch::builds {

/// Identifies what a kit's key is computed from without reading LibTorch's thousands of headers:
/// the include folder behind links, the time and content of the build-hash beside it, and the
/// content of everything of ours that a kit may be made of. Equal questions have equal keys; the
/// answer is kept on disk, so that a second kit for an unchanged build costs milliseconds. (Builds
/// of planted days link their include folder to the base's: one question for all of them.)
Result<std::string> kit_question(const KitPlan&, const std::string& compiler);

}  // namespace torchwatch::builds
