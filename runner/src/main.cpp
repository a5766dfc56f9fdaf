#include <exception>
#include <iostream>

#include "torchwatch/runner/command_line.hpp"
#include "torchwatch/runner/measure.hpp"

int main(int count, char** arguments) {
  try {
    const std::vector<std::string> rest(arguments + 1, arguments + count);
    using torchwatch::runner::run_command_line;
    return static_cast<int>(run_command_line(rest, std::cout, std::cerr));
  } catch (const std::exception& error) {
    std::cerr << "torchwatch-runner: " << torchwatch::runner::reason_of(error) << "\n";
    return 1;
  }
}
