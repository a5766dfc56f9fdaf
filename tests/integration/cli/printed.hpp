#pragma once

#include <filesystem>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/cli/command_line.hpp"

namespace torchwatch::test {

/// What a command printed, and its exit status.
struct Printed {
  int status = 0;
  std::string out;
  std::string err;
};

/// Runs `torchwatch ARGUMENTS --config FILE` in this process, on a screen of that width, until
/// `stop`.
inline Printed run_command(std::vector<std::string> arguments, const std::filesystem::path& file,
                           int columns = terminal::kColumnsMax, std::stop_token stop = {}) {
  arguments.insert(arguments.begin(), "torchwatch");
  arguments.insert(arguments.end(), {"--config", file.string()});
  std::vector<const char*> values;
  for (const auto& argument : arguments) values.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run(values, out, err, std::move(stop), {.out = {.columns = columns}});
  return {status, out.str(), err.str()};
}

}  // namespace torchwatch::test
