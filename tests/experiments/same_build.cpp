// What the runs of same_build.py say: how often one build, compared with itself, seems to have
// changed, which slowdown is found, and which way to measure is sure soonest. `--help` lists the
// options.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "command_line.hpp"
#include "same_build_figures.hpp"
#include "suite_series.hpp"
#include "torchwatch/detect/binomial_interval.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;
using nlohmann::json;

constexpr int kPairsOfTest = 4;
constexpr std::array kLevels{0.01, 0.05, 0.2, 0.5};

struct Options {
  std::string file;
  std::uint64_t seed = 20260101;
  long comparisons = 20'000;
  long comparisons_changed = 2'000;
  double power = 0.98;
  double half_width = 0.01;
  int series = kSeriesOfSuite;
  bool json = false;
};

void describe(CLI::App& app, Options& options) {
  app.add_option("RUNS.jsonl", options.file, "written by same_build.py")->required();
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  app.add_option("--comparisons", options.comparisons, "drawn of each workload, without a change")
      ->capture_default_str()
      ->check(CLI::Range(1L, 100'000'000L));
  app.add_option("--comparisons-changed", options.comparisons_changed, "and for each change tried")
      ->capture_default_str()
      ->check(CLI::Range(1L, 100'000'000L));
  app.add_option("--power", options.power, "share of comparisons in which a change must be found")
      ->capture_default_str()
      ->check(CLI::Range(0.5, 1.0));
  app.add_option("--half-width", options.half_width, "of the interval to be reached")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 0.5));
  app.add_option("--series", options.series,
                 "series that share the budget of one false incident a year")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--json", options.json, "print JSON");
}

/// What was found of one benchmark, or of all.
struct Row {
  Outcomes paper;
  Outcomes paper_all;
  Outcomes pairs;
  Outcomes direct;
  Outcomes resampled;
  std::optional<Power> least;
};

Row row_of(const BenchmarkBlocks& benchmark, const Options& options,
           const detect::Settings& settings) {
  Random random(options.seed);
  return {.paper = paper_directly(benchmark),
          .paper_all = paper_against_all(benchmark),
          .pairs = pairs_directly(benchmark, settings.threshold),
          .direct = protocol_directly(benchmark, settings),
          .resampled = protocol_resampled(benchmark, 1, options.comparisons, settings, random),
          .least = least_change_found(benchmark, options.power, options.comparisons_changed,
                                      settings, random)};
}

Row sum_of(const std::vector<Row>& rows) {
  Row all;
  for (const Row& row : rows) {
    all.paper += row.paper;
    all.paper_all += row.paper_all;
    all.pairs += row.pairs;
    all.direct += row.direct;
    all.resampled += row.resampled;
  }
  return all;
}

double mean_runs(const Outcomes& outcomes) {
  if (outcomes.comparisons == 0) return 0;
  return static_cast<double>(outcomes.runs) / static_cast<double>(outcomes.comparisons);
}

json to_json(const Outcomes& outcomes) {
  return {{"comparisons", outcomes.comparisons},
          {"beyond", outcomes.beyond},
          {"regressed", outcomes.regressed},
          {"improved", outcomes.improved},
          {"runs_mean", mean_runs(outcomes)}};
}

json to_json(const Row& row) {
  json object{{"paper", to_json(row.paper)},
              {"paper_against_all", to_json(row.paper_all)},
              {"pairs", to_json(row.pairs)},
              {"protocol", to_json(row.direct)},
              {"protocol_resampled", to_json(row.resampled)},
              {"least_change_found", nullptr}};
  if (row.least) {
    object["least_change_found"] = {{"change", row.least->change},
                                    {"outcomes", to_json(row.least->outcomes)}};
  }
  return object;
}

json to_json(const detect::Estimate& estimate) {
  return {{"ratio", estimate.ratio}, {"interval", {estimate.low, estimate.high}}};
}

json ways_of(const BenchmarkBlocks& benchmark, const Options& options) {
  json ways = json::object();
  for (std::size_t i = 0; i < kWayNames.size(); ++i) {
    const auto way = static_cast<Way>(i);
    const auto& blocks = benchmark.of(way);
    if (blocks.blocks == 0) continue;
    auto& object = ways[kWayNames[i]];
    object = {{"blocks", blocks.blocks},
              {"seconds", blocks.seconds},
              {"placing_seconds", blocks.placing_seconds},
              {"load_mean", blocks.load_sum / blocks.blocks}};
    if (way == Way::paper) continue;
    const auto found = shift(benchmark, way);
    object["pairs"] = found.pairs;
    object["pair_sd"] = found.pair_sd;
    object["ratio"] = found.ratio;
    object["interval"] = {found.low, found.high};  // an end beyond all numbers is null in JSON
    const auto place = places(benchmark, way);
    object["second"] = to_json(place.second);
    object["inner"] = to_json(place.inner);
    object["seconds_to_know"] = seconds_to_know(benchmark, way, options.half_width);
  }
  return ways;
}

/// The p-values of all benchmarks that were measured in one way with `threads` threads.
std::vector<double> p_values_of(const std::vector<BenchmarkBlocks>& benchmarks, Way way,
                                int threads) {
  std::vector<double> all;
  for (const auto& benchmark : benchmarks) {
    if (benchmark.threads != threads) continue;
    const auto found = p_values(benchmark, way, kPairsOfTest);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

json uniformity_of(const std::vector<BenchmarkBlocks>& benchmarks) {
  std::set<int> threads;
  for (const auto& benchmark : benchmarks) threads.insert(benchmark.threads);
  json rows = json::array();
  for (const auto way : {Way::interleaved, Way::interleaved_fixed, Way::apart, Way::fixed}) {
    for (const int number : threads) {
      const auto found = p_values_of(benchmarks, way, number);
      if (found.empty()) continue;
      json below = json::array();
      for (const double level : kLevels) {
        below.push_back(std::ranges::count_if(found, [&](double p) { return p < level; }));
      }
      rows.push_back({{"way", kWayNames[static_cast<std::size_t>(way)]},
                      {"threads", number},
                      {"tests", found.size()},
                      {"below", below}});
    }
  }
  return rows;
}

json report_of(const std::vector<BenchmarkBlocks>& benchmarks, const Options& options) {
  detect::Settings settings;
  settings.alpha = detect::alpha_of_budget(1, options.series);
  json report{{"file", options.file}, {"seed", options.seed}, {"benchmarks", json::array()}};
  std::vector<Row> rows;
  for (const auto& benchmark : benchmarks) {
    rows.push_back(row_of(benchmark, options, settings));
    json object = to_json(rows.back());
    object["workload"] = benchmark.workload;
    object["mode"] = benchmark.mode;
    object["threads"] = benchmark.threads;
    object["ways"] = ways_of(benchmark, options);
    report["benchmarks"].push_back(object);
  }
  report["all"] = to_json(sum_of(rows));
  report["p_values"] = {
      {"pairs", kPairsOfTest}, {"levels", kLevels}, {"rows", uniformity_of(benchmarks)}};
  return report;
}

/// "3 of 20: 15 % (3.2-37.9)"
std::string share_text(const json& outcomes, const char* what) {
  const auto share =
      detect::share_of(outcomes.at(what).get<long>(), outcomes.at("comparisons").get<long>());
  if (share.of == 0) return "-";
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(), "%ld of %ld: %.3g %% (%.3g-%.3g)", share.hits, share.of,
                100 * share.rate, 100 * share.low, 100 * share.high);
  return text.data();
}

/// Comparisons that were drawn are not independent: no interval.
std::string drawn_text(const json& outcomes) {
  const long of = outcomes.at("comparisons").get<long>();
  if (of == 0) return "-";
  std::array<char, 60> text{};
  std::snprintf(
      text.data(), text.size(), "%.3g %%",
      100 * static_cast<double>(outcomes.at("beyond").get<long>()) / static_cast<double>(of));
  return text.data();
}

std::string least_text(const json& least) {
  if (least.is_null()) return "-";
  std::array<char, 60> text{};
  std::snprintf(text.data(), text.size(), "+%.1f %%, %.0f runs",
                100 * least.at("change").get<double>(),
                least.at("outcomes").at("runs_mean").get<double>());
  return text.data();
}

void print_shares_row(const std::string& name, const json& row) {
  const auto& protocol = row.at("protocol");
  const auto verdicts = row.at("protocol_resampled").at("regressed").get<long>() +
                        row.at("protocol_resampled").at("improved").get<long>();
  std::printf("|%s|%s|%s|%s|%s|%s|%ld|%.1f|%s|\n", name.c_str(),
              share_text(row.at("paper"), "beyond").c_str(),
              drawn_text(row.at("paper_against_all")).c_str(),
              share_text(row.at("pairs"), "beyond").c_str(), share_text(protocol, "beyond").c_str(),
              drawn_text(row.at("protocol_resampled")).c_str(), verdicts,
              row.at("protocol_resampled").at("runs_mean").get<double>(),
              least_text(row.at("least_change_found")).c_str());
}

std::string name_of(const json& benchmark) {
  return benchmark.at("workload").get<std::string>() + " " +
         benchmark.at("mode").get<std::string>() + ", " +
         std::to_string(benchmark.at("threads").get<int>());
}

void print_shares(const json& report) {
  std::printf(
      "|workload, threads|paper: beyond 7 %%|all against all|a pair of ours|comparisons of ours|"
      "resampled|verdicts among them|runs|least change found|\n|-|-|-:|-|-|-:|-:|-:|-|\n");
  for (const auto& benchmark : report.at("benchmarks"))
    print_shares_row(name_of(benchmark), benchmark);
  print_shares_row("all", report.at("all"));
}

double number(const json& value) {
  return value.is_number() ? value.get<double>() : NAN;
}

/// "+0.11 (-0.53 to +0.42)"
std::string shift_text(const json& found) {
  const auto percent = [](const json& ratio) { return 100 * (number(ratio) - 1); };
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(), "%+.2f (%+.2f to %+.2f)", percent(found.at("ratio")),
                percent(found.at("interval")[0]), percent(found.at("interval")[1]));
  return text.data();
}

void print_ways(const json& report) {
  std::printf(
      "\n|workload, threads|way|B / A - 1, %% (99 %%)|spread of a pair, %%|pairs|seconds a pair|of "
      "them copying|minutes to know|load|\n|-|-|-:|-:|-:|-:|-:|-:|-:|\n");
  for (const auto& benchmark : report.at("benchmarks")) {
    for (const auto& [way, found] : benchmark.at("ways").items()) {
      if (!found.contains("ratio")) continue;
      const double pairs = found.at("pairs").get<double>();
      std::printf("|%s|%s|%s|%.2f|%.0f|%.2f|%.2f|%.1f|%.1f|\n", name_of(benchmark).c_str(),
                  way.c_str(), shift_text(found).c_str(), 100 * number(found.at("pair_sd")), pairs,
                  number(found.at("seconds")) / pairs, number(found.at("placing_seconds")) / pairs,
                  number(found.at("seconds_to_know")) / 60, number(found.at("load_mean")));
    }
  }
}

void print_places(const json& report) {
  std::printf(
      "\n|workload, threads|way|side: B / A - 1, %% (99 %%)|second of a pair / first|"
      "inner of a block / outer|\n|-|-|-:|-:|-:|\n");
  for (const auto& benchmark : report.at("benchmarks")) {
    for (const auto& [way, found] : benchmark.at("ways").items()) {
      if (!found.contains("ratio")) continue;
      std::printf("|%s|%s|%s|%s|%s|\n", name_of(benchmark).c_str(), way.c_str(),
                  shift_text(found).c_str(), shift_text(found.at("second")).c_str(),
                  shift_text(found.at("inner")).c_str());
    }
  }
}

void print_uniformity(const json& report) {
  const auto& found = report.at("p_values");
  std::printf("\n|way, threads|tests of %d pairs", found.at("pairs").get<int>());
  for (const auto& level : found.at("levels")) {
    std::printf("|p below %.0f %%", 100 * level.get<double>());
  }
  std::printf("|\n|-|-:|-|-|-|-|\n");
  for (const auto& row : found.at("rows")) {
    const long tests = row.at("tests").get<long>();
    std::printf("|%s, %d|%ld|", row.at("way").get<std::string>().c_str(),
                row.at("threads").get<int>(), tests);
    for (const auto& below : row.at("below")) {
      const auto share = detect::share_of(below.get<long>(), tests);
      std::printf("%.1f %% (%.1f-%.1f)|", 100 * share.rate, 100 * share.low, 100 * share.high);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A build compared with itself: the result of each way to measure");
  describe(app, options);
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  std::ifstream file(options.file);
  const auto benchmarks = read_blocks(file);
  if (!benchmarks || benchmarks->empty()) {
    const std::string what = benchmarks ? "no blocks" : benchmarks.error().message;
    std::fprintf(stderr, "experiment_same_build: %s: %s\n", options.file.c_str(), what.c_str());
    return 2;
  }
  const auto report = report_of(*benchmarks, options);
  if (options.json) {
    std::printf("%s\n", report.dump(2).c_str());
    return 0;
  }
  print_shares(report);
  print_ways(report);
  print_places(report);
  print_uniformity(report);
}
