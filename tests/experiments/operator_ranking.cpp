// How often the watch of operators names the one that planted_operators.py made slower.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "command_line.hpp"
#include "operator_rows.hpp"
#include "search_score.hpp"
#include "torchwatch/detect/binomial_interval.hpp"
#include "torchwatch/operators/operator_changes.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;
using nlohmann::json;

/// Cases of one planted size.
struct Score {
  Count first;    ///< the operator stands at the head of the list
  Count certain;  ///< its interval lies beyond what counts
  Count alone;    ///< no other operator's does, either way
};

void count(const json& row, Score& score) {
  const auto changes = operators::changes_in(pairs_of(row));
  const double iteration_ns = row.at("pairs").front().at("before").at("iteration_ns");
  const std::string planted = row.at("operator");
  bool is_certain = false;
  bool is_alone = true;
  for (const auto& change : changes) {
    const bool is_planted = change.name == planted;
    const bool takes_more = operators::takes_more(change, iteration_ns);
    if (is_planted) is_certain = takes_more;
    if (!is_planted) is_alone &= !takes_more && !operators::takes_less(change, iteration_ns);
  }
  const bool is_first = changes.front().name == planted;
  score.first.add(is_first);
  score.certain.add(is_certain);
  score.alone.add(is_alone);
  if (is_first && is_certain) return;
  std::printf("%s %s, %s of %.1f %%: first is %s, %s\n", std::string(row.at("workload")).c_str(),
              std::string(row.at("mode")).c_str(), planted.c_str(),
              100 * row.at("share").get<double>(), changes.front().name.c_str(),
              is_certain ? "certain" : "not certain");
}

std::string text(const Count& count) {
  const auto share = detect::share_of(count.hits, count.of);
  char text[96];
  std::snprintf(text, sizeof text, "%d of %d, %.1f %% (%.1f-%.1f)", count.hits, count.of,
                100 * share.rate, 100 * share.low, 100 * share.high);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  CLI::App app("How often the watch of operators names the slower one");
  app.add_option("PAIRS.jsonl", file, "written by planted_operators.py")
      ->required()
      ->check(CLI::ExistingFile);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  std::map<double, Score> scores;  // by how much an iteration is longer
  for (const auto& row : measured_cases(file)) count(row, scores[row.at("longer")]);
  std::printf(
      "\n| iteration longer by | named first | certain | no other one certain |\n"
      "|-|-|-|-|\n");
  for (const auto& [longer, score] : scores) {
    std::printf("| %.1f %% | %s | %s | %s |\n", longer, text(score.first).c_str(),
                text(score.certain).c_str(), text(score.alone).c_str());
  }
  return 0;
}
