#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace torchwatch::runner {

enum class ExitStatus { done = 0, wrong_use = 2, environment_error = 3 };

/// Runs the command line `arguments` (without the program's name). Writes answers to `out`, errors
/// to `err`.
ExitStatus run_command_line(const std::vector<std::string>& arguments, std::ostream& out,
                            std::ostream& err);

}  // namespace torchwatch::runner
