#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace torchwatch::runner {

enum class ExitStatus { done = 0, wrong_use = 2, surroundings_failed = 3 };

/// The runner's command line without the program's name. Writes answers to `out`, errors to `err`.
ExitStatus run_command_line(const std::vector<std::string>& arguments, std::ostream& out,
                            std::ostream& err);

}  // namespace torchwatch::runner
