#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace torchwatch::experiments {

/// Reads the words of the command line into what `app` describes. Holds the exit status where the
/// program ends with that: 0 after --help, 2 after wrong use, which has been reported.
inline std::optional<int> read_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace torchwatch::experiments
