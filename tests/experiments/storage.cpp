// How fast runs are stored and read back, and the history of one series over a year.
// Usage: experiment_storage [runs] [folder]   (default: 10000 runs of 30 samples, in the temporary
// folder; name a folder on the disk that you mean to use)

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::storage;
using Clock = std::chrono::steady_clock;

constexpr int kSamples = 30;
constexpr int kRunsOfOneComparison = 24;  ///< of one benchmark
constexpr int kYear = 365;

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}
void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::exit(1);
}

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

RunResult result_of(const std::string& token, int number) {
  RunResult result;
  result.attempt = token;
  for (int i = 0; i < kSamples; ++i) result.samples_ns.push_back(10'000'000 + i * 1000 + number);
  result.values = {{Metric::time, 10'000'000 + number}, {Metric::cpu_peak, 1 << 20}};
  for (int i = 0; i < 40; ++i) {
    result.environment.facts["fact " + std::to_string(i)] = "value " + std::to_string(i);
  }
  result.environment.volatile_facts = {{"load", number}, {"major_faults", 0}, {"switches", 3}};
  return result;
}

class Experiment {
 public:
  explicit Experiment(const std::filesystem::path& file)
      : database_(must(Database::open({.path = file}))) {
    for (const std::string name : {"a", "b"}) {
      auto row = must(builds_.discover(BuildOrigin::nightly, name));
      row.content_hash = row.folder = name;
      build_ = must(builds_.mark_ready(row)).id;
    }
  }

  ComparisonRow new_comparison() {
    return must(comparisons_.open({Purpose::requested, build_, build_}, 1));
  }

  void store_run(const ComparisonRow& comparison, const std::string& workload, int number) {
    const auto token = std::to_string(number);
    const Benchmark benchmark{workload, {}, {}};
    must(runs_.issue(
        {{OwnerKind::comparison, comparison.id}, token, build_, benchmark, Pass::timing}, token,
        number));
    must(runs_.record({{token, result_of(token, number)}}, number));
  }

  /// As the daemon does it: two commits a run, each on the disk before it returns.
  void insert_one_by_one(int count) {
    const auto comparison = new_comparison();
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i)
      store_run(comparison, "workload" + std::to_string(i % 84), next_++);
    const double taken = milliseconds_since(start);
    std::printf("insert %d runs, two commits each: %.1f s, %.2f ms a run\n", count, taken / 1e3,
                taken / count);
    read_back(comparison);
  }

  void read_back(const ComparisonRow& comparison) {
    auto start = Clock::now();
    const auto rows = must(runs_.runs_of({OwnerKind::comparison, comparison.id}));
    std::printf("list those %zu runs with their values: %.0f ms\n", rows.size(),
                milliseconds_since(start));
    start = Clock::now();
    std::size_t samples = 0;
    for (const auto& row : rows) samples += must(runs_.samples_of(row.attempt)).size();
    std::printf("read %zu samples, digests checked: %.0f ms\n", samples, milliseconds_since(start));
  }

  /// One series of a year, among others; committed by the comparison, as only reading is measured.
  void history_of_a_year() {
    for (int day = 0; day < kYear; ++day) {
      must(database_->transact([&]() -> Status {
        const auto comparison = new_comparison();
        for (int i = 0; i < kRunsOfOneComparison; ++i) {
          store_run(comparison, "series", next_++);
          store_run(comparison, "other" + std::to_string(i), next_++);
        }
        return {};
      }));
    }
    const Series series{{"series", {}, {}}, Metric::time};
    const int count = kYear * kRunsOfOneComparison;
    std::vector<double> taken;
    for (int i = 0; i < 20; ++i) {
      const auto start = Clock::now();
      if (must(runs_.history(series, count)).size() != static_cast<std::size_t>(count))
        std::abort();
      taken.push_back(milliseconds_since(start));
    }
    std::nth_element(taken.begin(), taken.begin() + 10, taken.end());
    std::printf("history of one series over a year (%d runs): %.1f ms\n", count, taken[10]);
  }

  void check() {
    const auto start = Clock::now();
    const bool sound = must(database_->check_invariants()).empty();
    std::printf("check_invariants over %d runs: %.0f ms, %s\n", next_, milliseconds_since(start),
                sound ? "sound" : "BROKEN");
  }

 private:
  std::unique_ptr<Database> database_;
  BuildStore builds_{*database_};
  ComparisonStore comparisons_{*database_};
  RunStore runs_{*database_};
  Id build_ = 0;
  int next_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  const int runs = count > 1 ? std::atoi(arguments[1]) : 10'000;
  const std::filesystem::path folder =
      count > 2 ? std::filesystem::path(arguments[2]) : std::filesystem::temp_directory_path();
  const auto file = folder / "torchwatch-experiment.sqlite";
  for (const auto* suffix : {"", "-wal", "-shm", ".lock"}) {
    std::filesystem::remove(file.string() + suffix);
  }
  {
    Experiment experiment(file);
    experiment.insert_one_by_one(runs);
    experiment.history_of_a_year();
    experiment.check();
  }
  std::printf("size of the file: %.1f MB\n",
              static_cast<double>(std::filesystem::file_size(file)) / 1e6);
  for (const auto* suffix : {"", ".lock"}) std::filesystem::remove(file.string() + suffix);
  return 0;
}
