#pragma once

#include <map>
#include <string>

namespace torchwatch::builds {

/// Returns the part of this process's environment that compilers, recipes and other tools see:
/// where programs, caches, certificates and proxies are, how to compile, and the user's
/// TORCHWATCH_... settings. Nothing else, as tokens may come by the environment too: a name with
/// TOKEN, SECRET, PASSWORD or CREDENTIAL in it is never passed on.
std::map<std::string, std::string> tool_environment();

}  // namespace torchwatch::builds
