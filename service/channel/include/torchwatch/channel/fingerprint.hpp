#pragma once

#include <string>

namespace torchwatch::channel {

/// Returns whether two fingerprints can be of the same file. An index may begin to say more of its
/// files, or less: the hashes that both name decide, else what both say must agree, and there must
/// be something that both say.
bool is_same_file(const std::string& known, const std::string& offered);

/// Returns all that two fingerprints of the same file say of it, as `offered` has it where both do;
/// `known` itself where that is all.
std::string joined_fingerprint(const std::string& known, const std::string& offered);

/// Returns the fingerprint of a file that was refused when it was fetched in that manner
/// (Channel::manner). It is of the same file as `offered`.
std::string refused_fingerprint(const std::string& offered, const std::string& manner);

/// Returns whether a file with that fingerprint was refused in the same manner.
bool was_refused_so(const std::string& known, const std::string& manner);

}  // namespace torchwatch::channel
