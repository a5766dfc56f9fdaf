#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::test {

/// How a fake build behaves, from the file `behaviour` in or beside its lib/; see README.md.
struct Behaviour {
  struct Line {
    std::string verb;
    std::string workload;       ///< "*": all
    std::string configuration;  ///< "*": all
    std::string value;          ///< the rest of the line
  };
  std::vector<Line> lines;
  double noise = 0.01;
  bool noise_is_fixed = false;  ///< the same for every attempt
  std::map<std::string, std::string> facts;

  /// Product of the factors of all lines that fit; 1 without one. Not less than what a line
  /// "VERB-at-least" asks for.
  double factor(const std::string& verb, const Benchmark&) const;
  /// The same of the lines "operator WORKLOAD CONFIGURATION NAME FACTOR" of one operator.
  double operator_factor(const std::string& name, const Benchmark&) const;
  /// Sum of the bytes of all lines that fit.
  std::int64_t sum(const std::string& verb, const Benchmark&) const;
  /// The last line of one of these verbs that fits.
  const Line* find(const std::vector<std::string>& verbs, const Benchmark&) const;
};

/// Errors: invalid, naming the line.
Result<Behaviour> parse_behaviour(const std::string& text);

}  // namespace torchwatch::test
