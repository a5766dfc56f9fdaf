#pragma once

namespace torchwatch::pulls {

/// The step of the last message about a request: the first that has it is said, whoever ended it.
inline constexpr const char* kEnd = "end";

}  // namespace torchwatch::pulls
