#pragma once

#include <map>
#include <string>
#include <vector>

#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::builds {

/// Returns the part of this process's environment that compilers, recipes and other tools see:
/// where programs, caches, certificates and proxies are, how to compile, the user's TORCHWATCH_...
/// settings, and the variables in `more`. Nothing else, as secrets may come by the environment too:
/// what sounds like one (TOKEN, SECRET, PASSW, CREDENTIAL, KEY) is passed on only if `more` has it.
std::map<std::string, std::string> tool_environment(const std::vector<std::string>& more = {});

/// Returns what of `tool_environment` may change what a recipe builds: compilers, their flags, the
/// user's TORCHWATCH_... settings, and `more`.
std::map<std::string, std::string> build_settings(const std::vector<std::string>& more = {});

/// Confines a tool. Beyond the profile it sees the names of accounts and the certificates that its
/// environment names. HOME and TMPDIR become /tmp, and proxies go where there is no network.
/// Errors: those of Sandbox::confine.
Status confine_tool(const sandbox::Sandbox&, process::ProcessSpec&, sandbox::Profile);

/// What a confined compiler may do with the compiler cache. What foreign code could write there,
/// every later build would read.
enum class CompilerCache { shared, read_only };

/// Confines a compiler or a recipe likewise, with its compiler cache.
Status confine_compiler(const sandbox::Sandbox&, process::ProcessSpec&, sandbox::Profile,
                        CompilerCache = CompilerCache::shared);

}  // namespace torchwatch::builds
