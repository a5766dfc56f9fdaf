#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recorded_day.hpp"

namespace torchwatch::experiments {

/// What a method said of one day, and what it cost.
struct DayResult {
  std::vector<std::vector<std::size_t>> blamed;  ///< a set of commits for each culprit
  int builds = 0;
  int rounds = 0;  ///< how often it waited for builds, those of one round made at once
  int runs = 0;
  double cpu_ms = 0;
  /// Statements that the culprit is in a set, made with at least the confidence asked for.
  struct Claim {
    std::vector<std::size_t> commits;
    bool verified = false;  ///< also measured against its parent
  };
  std::vector<Claim> claims;
};

/// How often something happened.
struct Count {
  int hits = 0;
  int of = 0;
  void add(bool hit) {
    hits += hit ? 1 : 0;
    ++of;
  }
};

/// How a method did over many days of one shape. A day is either of exact, contains, wrong, none.
struct SearchScore {
  Count exact;           ///< every culprit, as precisely as broken builds allow, and nobody else
  Count contains;        ///< nobody else, but less precise or not every culprit
  Count wrong;           ///< somebody innocent, beside a right one too
  Count none;            ///< nobody blamed
  Count all_found;       ///< every culprit is in a set blamed, whatever else is
  Count verified_right;  ///< claims that hold a culprit: after their verification ...
  Count believed_right;  ///< ... and those of the posterior alone, when verifying began
  std::vector<int> builds;
  std::vector<int> rounds;
  std::vector<int> runs;
  std::vector<double> cpu_ms;

  void count(const Day&, const DayResult&);
};

/// What a search waits for. Builds of one round are made at once, runs one after the other.
struct Waits {
  double build_minutes = 60;
  double run_seconds = 2;
};

/// How long a search waits on average, in hours.
double mean_hours(const SearchScore&, const Waits&);

/// The columns of `table_row`.
std::string table_head();
std::string table_row(const std::string& day, const std::string& method, const SearchScore&,
                      const Waits&);
nlohmann::json json_row(const std::string& day, const std::string& method, const SearchScore&,
                        const Waits&);

}  // namespace torchwatch::experiments
