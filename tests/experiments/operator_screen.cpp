// How often a nightly that looks at single operators cries wolf, what it finds and what that costs:
// nightlies drawn from recorded pairs of watched runs, with and without an operator that got
// slower.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "command_line.hpp"
#include "operator_rows.hpp"
#include "suite_series.hpp"
#include "torchwatch/detect/binomial_interval.hpp"
#include "torchwatch/detect/time_verdict.hpp"
#include "torchwatch/operators/cover.hpp"
#include "torchwatch/operators/suspects.hpp"
#include "torchwatch/records/statistics.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;
using operators::Pair;

using Random = std::mt19937_64;

/// What the service does (service/tracing/src/operator_screen.cpp).
constexpr int kRounds = 3;
constexpr std::size_t kSuspectsMax = 10;
constexpr double kSuspectOfGate = 0.75;

struct Options {
  std::string file;
  double threshold = 0.2;
  double slower = 0.3;
  long nightlies = 100'000;
  long nightlies_slower = 2'000;
  std::uint64_t seed = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

/// All recorded pairs of a workload, of one build against itself.
struct Recorded {
  Benchmark benchmark = {};
  std::vector<Pair> pairs = {};
  double iteration_ns = 0;
};

/// An operator that got slower: in one workload, or in all that call it.
struct Planted {
  std::string name = {};
  std::string workload = {};  ///< empty: all
};

/// What drawn nightlies came to.
struct Tally {
  long nightlies = 0;
  long incidents = 0;  ///< nightlies in which an operator is called slower that is not planted
  long found = 0;      ///< nightlies in which the planted one is
  long runs = 0;
  long looks = 0;                           ///< benchmarks looked at
  std::map<std::string, long> missed = {};  ///< by planted operator: nightlies that do not find it

  Tally& operator+=(const Tally& other) {
    nightlies += other.nightlies;
    incidents += other.incidents;
    found += other.found;
    runs += other.runs;
    looks += other.looks;
    for (const auto& [name, count] : other.missed) missed[name] += count;
    return *this;
  }
};

/// The share of an iteration that an operator takes in the middle of its runs.
double usual_share(const Recorded& recorded, const std::string& name) {
  std::vector<std::int64_t> self_ns;
  for (const auto& pair : recorded.pairs) {
    const auto found = pair.before.find(name);
    if (found != pair.before.end()) self_ns.push_back(found->second.self_ns);
  }
  return static_cast<double>(median(self_ns)) / recorded.iteration_ns;
}

/// Forgets operators that no run can show as large enough to be judged.
void forget_small(Recorded& recorded) {
  const auto is_small = [&](const auto& each) {
    return usual_share(recorded, each.first) < operators::kShareJudged / 3;
  };
  std::set<std::string> small;
  for (const auto& pair : recorded.pairs) {
    for (const auto& each : pair.before) {
      if (is_small(each)) small.insert(each.first);
    }
  }
  for (auto& pair : recorded.pairs) {
    for (const auto& name : small) {
      pair.before.erase(name);
      pair.after.erase(name);
    }
  }
}

/// Reads the pairs by workload, without the operator that each case made slower.
std::vector<Recorded> recorded_in(const std::string& file) {
  std::map<Benchmark, Recorded> all;
  for (const auto& row : measured_cases(file)) {
    const auto mode = row.at("mode") == "train" ? Mode::train : Mode::infer;
    const Benchmark benchmark{row.at("workload"), {Device::cpu, mode}, {}};
    auto& of = all[benchmark];
    of.benchmark = benchmark;
    of.iteration_ns = row.at("pairs").front().at("before").at("iteration_ns");
    for (auto& pair : pairs_of(row)) {
      const std::string slower = row.at("operator");
      pair.before.erase(slower);
      pair.after.erase(slower);
      of.pairs.push_back(std::move(pair));
    }
  }
  std::vector<Recorded> list;
  for (auto& [benchmark, of] : all) {
    forget_small(of);
    list.push_back(std::move(of));
  }
  return list;
}

/// Leaves out those that a nightly would not watch.
std::vector<Recorded> watched_of(std::vector<Recorded> all) {
  std::vector<operators::WatchedPairs> known;
  for (const auto& each : all) {
    known.push_back({.benchmark = each.benchmark,
                     .pairs = {each.pairs.front()},
                     .iteration_ns = each.iteration_ns});
  }
  const auto watched = operators::cover(known);
  std::erase_if(all, [&](const Recorded& each) { return !watched.contains(each.benchmark); });
  return all;
}

/// Draws a pair; which of its runs is of which build is drawn, too.
Pair drawn(const Recorded& recorded, const Planted* planted, double slower, Random& random) {
  auto pair = recorded.pairs[random() % recorded.pairs.size()];
  if (random() % 2 == 0) std::swap(pair.before, pair.after);
  if (planted == nullptr) return pair;
  if (!planted->workload.empty() && planted->workload != to_string(recorded.benchmark)) return pair;
  const auto found = pair.after.find(planted->name);
  if (found != pair.after.end()) {
    auto& self = found->second.self_ns;
    self = std::llround(static_cast<double>(self) * (1 + slower));
  }
  return pair;
}

/// The log-ratio of an operator in a drawn pair of its workload; nothing where a run lacks it.
std::optional<double> log_ratio(const Recorded& recorded, const std::string& name,
                                const Planted* planted, double slower, Random& random) {
  const auto pair = drawn(recorded, planted, slower, random);
  const auto before = pair.before.find(name);
  const auto after = pair.after.find(name);
  if (before == pair.before.end() || after == pair.after.end()) return std::nullopt;
  if (before->second.self_ns <= 0 || after->second.self_ns <= 0) return std::nullopt;
  return std::log(static_cast<double>(after->second.self_ns) /
                  static_cast<double>(before->second.self_ns));
}

/// Whether a suspect is called slower on screening and fresh pairs, and how many runs that takes.
std::pair<bool, long> judge(const std::function<double()>& next, const detect::Settings& settings) {
  long runs = 0;
  const auto take = [&](std::vector<double>& pairs, int count) {
    while (static_cast<int>(pairs.size()) < count) {
      pairs.push_back(next());
      runs += 2;
    }
  };
  std::vector<double> screening;
  auto screened = detect::screen(screening, settings);
  while (screened.step == detect::ScreenStep::measure_more) {
    take(screening, screened.pairs_next);
    screened = detect::screen(screening, settings);
  }
  if (screened.step != detect::ScreenStep::suspect) return {false, runs};
  std::vector<double> fresh;
  auto confirmed = detect::confirm(fresh, settings);
  while (confirmed.measure_more) {
    take(fresh, confirmed.pairs_next);
    confirmed = detect::confirm(fresh, settings);
  }
  return {confirmed.verdict == Verdict::regressed, runs};
}

/// One nightly of all recorded workloads.
class Nightly {
 public:
  Nightly(const std::vector<Recorded>& all, const detect::Settings& settings,
          const Planted* planted, double slower, Random& random)
      : all_(all), settings_(settings), planted_(planted), slower_(slower), random_(random) {}

  void add_to(Tally& tally) {
    std::set<Benchmark> wanted;
    for (const auto& recorded : all_) {
      wanted.insert(recorded.benchmark);
      watched_.push_back({.benchmark = recorded.benchmark, .iteration_ns = recorded.iteration_ns});
    }
    operators::Screened screened;
    for (int round = 0; round < kRounds && !wanted.empty(); ++round) {
      watch(wanted, tally);
      screened = operators::screen(watched_, kSuspectOfGate * settings_.gate);
      wanted.clear();
      for (const auto& suspect : screened.suspects) wanted.insert(suspect.carrier);
    }
    if (screened.suspects.size() > kSuspectsMax) screened.suspects.resize(kSuspectsMax);
    conclude(screened.suspects, tally);
    ++tally.nightlies;
    tally.looks += static_cast<long>(all_.size());
  }

 private:
  void watch(const std::set<Benchmark>& wanted, Tally& tally) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!wanted.contains(all_[i].benchmark)) continue;
      watched_[i].pairs.push_back(drawn(all_[i], planted_, slower_, random_));
      tally.runs += 2;
    }
  }

  void conclude(const std::vector<operators::Suspect>& suspects, Tally& tally) {
    bool is_wrong = false;
    bool is_found = false;
    for (const auto& suspect : suspects) {
      const auto& recorded = *std::ranges::find(all_, suspect.carrier, &Recorded::benchmark);
      const auto next = [&] {
        for (;;) {
          const auto value = log_ratio(recorded, suspect.name, planted_, slower_, random_);
          if (value) return *value;
        }
      };
      const auto [is_slower, runs] = judge(next, settings_);
      tally.runs += runs;
      const bool is_planted = planted_ != nullptr && suspect.name == planted_->name;
      (is_planted ? is_found : is_wrong) |= is_slower;
    }
    tally.incidents += is_wrong ? 1 : 0;
    tally.found += is_found ? 1 : 0;
    if (planted_ != nullptr && !is_found) ++tally.missed[planted_->name];
  }

  const std::vector<Recorded>& all_;
  const detect::Settings& settings_;
  const Planted* planted_;
  double slower_;
  Random& random_;
  std::vector<operators::WatchedPairs> watched_;
};

/// Every operator that takes kShare of some workload: once slower in all, and once in each of
/// these.
std::vector<Planted> plantable(const std::vector<Recorded>& all) {
  constexpr double kShare = 0.02;
  std::set<std::pair<std::string, std::string>> found;
  for (const auto& recorded : all) {
    for (const auto& [name, figures] : recorded.pairs.front().before) {
      if (name == kOutsideOperators || usual_share(recorded, name) < kShare) continue;
      found.emplace(name, "");
      found.emplace(name, to_string(recorded.benchmark));
    }
  }
  std::vector<Planted> list;
  for (const auto& [name, workload] : found) list.push_back({name, workload});
  return list;
}

/// Draws nightlies on all threads. Random numbers belong to nightlies, so the result does not
/// depend on how many threads there are.
Tally draw(const std::vector<Recorded>& all, const detect::Settings& settings,
           const Options& options, const std::vector<Planted>& planted, long nightlies) {
  std::vector<Tally> parts(options.threads);
  std::vector<std::jthread> threads;
  for (unsigned part = 0; part < options.threads; ++part) {
    threads.emplace_back([&, part] {
      for (long number = part; number < nightlies; number += options.threads) {
        std::seed_seq seed{options.seed, static_cast<std::uint64_t>(number), planted.size()};
        Random random(seed);
        const auto* one =
            planted.empty() ? nullptr : &planted[static_cast<std::size_t>(number) % planted.size()];
        Nightly(all, settings, one, options.slower, random).add_to(parts[part]);
      }
    });
  }
  threads.clear();
  Tally sum;
  for (const auto& part : parts) sum += part;
  return sum;
}

void print(const char* what, const Tally& tally) {
  const auto wrong = detect::share_of(tally.incidents, tally.nightlies);
  const auto found = detect::share_of(tally.found, tally.nightlies);
  std::printf("| %s | %ld | %ld (at most %.4f %%) | %.1f %% (%.1f-%.1f) | %.2f |\n", what,
              tally.nightlies, tally.incidents, 100 * wrong.high, 100 * found.rate, 100 * found.low,
              100 * found.high, static_cast<double>(tally.runs) / static_cast<double>(tally.looks));
}

/// Names the operators that most nightlies miss.
void print_missed(const Tally& tally) {
  std::vector<std::pair<long, std::string>> most;
  for (const auto& [name, count] : tally.missed) most.emplace_back(count, name);
  std::ranges::sort(most, std::ranges::greater{});
  std::printf("\nMissed most, in all workloads:");
  for (std::size_t i = 0; i < std::min<std::size_t>(most.size(), 8); ++i) {
    std::printf("%s %s %ld", i == 0 ? "" : ",", most[i].second.c_str(), most[i].first);
  }
  std::printf("\n");
}

void print_all(const std::vector<Recorded>& all, const Options& options) {
  detect::Settings settings;
  settings.gate *= options.threshold / settings.threshold;
  settings.threshold = options.threshold;
  settings.alpha = detect::alpha_of_budget(1, kSeriesOfSuite);
  std::vector<Planted> everywhere;
  std::vector<Planted> in_one;
  for (auto& each : plantable(all)) (each.workload.empty() ? everywhere : in_one).push_back(each);
  std::printf("%zu workloads watched, %zu operators, %zu of them in a workload\n\n", all.size(),
              everywhere.size(), in_one.size());
  std::printf(
      "| an operator got slower | nightlies | an innocent one is called slower | found by the same "
      "nightly "
      "| runs a workload |\n|-|-|-|-|-|\n");
  print("none did", draw(all, settings, options, {}, options.nightlies));
  const auto found_everywhere = draw(all, settings, options, everywhere, options.nightlies_slower);
  print("in all workloads", found_everywhere);
  print("in one workload", draw(all, settings, options, in_one, options.nightlies_slower));
  print_missed(found_everywhere);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What looking at single operators finds, and what it costs");
  app.add_option("PAIRS.jsonl", options.file, "written by planted_operators.py")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--threshold", options.threshold, "[detect] operator_threshold")
      ->capture_default_str();
  app.add_option("--slower", options.slower, "by what share an operator is made slower")
      ->capture_default_str();
  app.add_option("--nightlies", options.nightlies, "drawn without a change")->capture_default_str();
  app.add_option("--nightlies-slower", options.nightlies_slower, "drawn with one, of each kind")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  app.add_option("--threads", options.threads, "of the work")->check(CLI::Range(1U, 1'000U));
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  print_all(watched_of(recorded_in(options.file)), options);
  return 0;
}
