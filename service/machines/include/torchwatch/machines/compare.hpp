#pragma once

#include <string>

#include "torchwatch/commands/command.hpp"

namespace torchwatch::machines {

/// What `torchwatch compare BUILD --between machine=A --and machine=B` asks for.
struct Asked {
  std::string build;  ///< its id, or its name
  std::string a;      ///< "machine=" and the id of a class, or a part of its name
  std::string b;
};

/// Prints the times of a build on two machine classes side by side, from runs that are stored.
/// Errors: invalid (the form, a part that several classes have), not_found (the build, a class).
commands::Outcome compare_machines(const commands::Invocation&, const Asked&);

}  // namespace torchwatch::machines
