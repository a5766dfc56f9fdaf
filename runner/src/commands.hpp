#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"
#include "torchwatch/runner/command_line.hpp"

namespace torchwatch::runner {

/// One call of a command: the arguments after its name, and its output streams.
struct Call {
  std::vector<std::string> arguments;
  std::ostream& out;
  std::ostream& err;
};

ExitStatus measure_command(const Call& call);
ExitStatus list_command(const Call& call);
ExitStatus values_command(const Call& call);
ExitStatus environment_command(const Call& call);
ExitStatus export_command(const Call& call);

/// Prints what is wrong, and the usage.
ExitStatus wrong_use(const Call& call, const std::string& what);
/// Prints the error; its code decides the exit status.
ExitStatus failed(const Call& call, const Error& error);

}  // namespace torchwatch::runner
