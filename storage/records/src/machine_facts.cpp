#include "torchwatch/records/machine_facts.hpp"

#include <sstream>

namespace torchwatch {

bool is_of_machine(const std::string& fact) {
  return !fact.starts_with("build.");
}

std::string machine_of(const Environment& environment) {
  std::string lines;
  for (const auto& [name, value] : environment.facts) {
    if (is_of_machine(name)) lines += name + ": " + value + "\n";
  }
  return lines;
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a);
  std::istringstream right(b);
  std::string line_a;
  std::string line_b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(left, line_a));
    const bool more_b = static_cast<bool>(std::getline(right, line_b));
    if (!more_a && !more_b) return "no difference";
    if (!more_a) line_a = "(nothing)";
    if (!more_b) line_b = "(nothing)";
    if (line_a != line_b) return line_a + " -> " + line_b;
  }
}

}  // namespace torchwatch
