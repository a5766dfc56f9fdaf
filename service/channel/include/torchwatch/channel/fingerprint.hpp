#pragma once

#include <string>

namespace torchwatch::channel {

/// Returns whether two fingerprints can be of the same file. An index may begin to say more of its
/// files, or less: where both name the hash that alone decides, else what both say must agree, and
/// there must be something that both say.
bool is_same_file(const std::string& known, const std::string& offered);

/// Returns all that two fingerprints of the same file say of it, as `offered` has it where both do;
/// `known` itself where that is all.
std::string joined_fingerprint(const std::string& known, const std::string& offered);

}  // namespace torchwatch::channel
