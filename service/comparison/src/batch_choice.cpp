#include "torchwatch/comparison/batch_choice.hpp"

#include <nlohmann/json.hpp>

#include "build_measurer.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::comparison {
namespace {

using nlohmann::json;

constexpr double kLeastGrowth = 1.05;
constexpr int kBatchMax = 1 << 16;
constexpr double kNanosecondsPerSecond = 1e9;

/// Tries one benchmark's batch sizes, smallest first.
class Doubling {
 public:
  Doubling(BuildMeasurer& measurer, Benchmark benchmark, int runs)
      : measurer_(measurer), runs_(runs) {
    choice_.benchmark = std::move(benchmark);
  }

  Result<BatchChoice> choose(std::stop_token stop) {
    for (int batch = 1; batch <= kBatchMax; batch *= 2) {
      TW_TRY(const bool continues, try_batch(batch, stop));
      if (!continues) return choice_;
    }
    choice_.ended = "no larger batch is tried";
    return choice_;
  }

 private:
  Result<bool> try_batch(int batch, std::stop_token stop) {
    auto benchmark = choice_.benchmark;
    benchmark.variant.batch = batch;
    TW_TRY(const auto runs, measurer_.run(benchmark, Pass::timing, runs_, stop));
    std::vector<double> times;
    for (const auto& run : runs) {
      if (run.row.status != RunStatus::ok) return end(run.row.reason);
      times.push_back(static_cast<double>(run.row.values.at(Metric::time)));
    }
    return take({batch, batch * kNanosecondsPerSecond / median(times)});
  }

  bool take(BatchPoint point) {
    const bool grew =
        choice_.tried.empty() ||
        point.items_per_second >= kLeastGrowth * choice_.tried.back().items_per_second;
    choice_.tried.push_back(point);
    if (!grew) return end("the throughput no longer grows");
    choice_.batch = point.batch;
    return true;
  }

  bool end(std::string reason) {
    choice_.ended = std::move(reason);
    return false;
  }

  BuildMeasurer& measurer_;
  int runs_;
  BatchChoice choice_;
};

std::string key_of(const Benchmark& benchmark) {
  return benchmark.workload + " " + std::string(to_string(benchmark.configuration.device));
}

tl::unexpected<Error> invalid(const std::string& what) {
  return fail(ErrorCode::invalid, "table of batch sizes: " + what,
              "`torchwatch workload batches --out FILE` writes one");
}

}  // namespace

Result<std::vector<BatchChoice>> choose_batches(Services& services, storage::Id build, int runs,
                                                std::stop_token stop) {
  TW_TRY(auto measurer, BuildMeasurer::open(services, build, stop));
  std::vector<BatchChoice> choices;
  for (const auto& benchmark : measurer.plan().benchmarks) {
    if (benchmark.configuration.mode != Mode::infer || benchmark.variant != Variant{}) continue;
    if (measurer.plan().stated.contains(benchmark.workload)) continue;  // its size is its own
    TW_TRY(auto choice, Doubling(measurer, benchmark, runs).choose(stop));
    choices.push_back(std::move(choice));
  }
  TW_TRY_VOID(measurer.close());
  return choices;
}

std::string to_json(Preset preset, const std::vector<BatchChoice>& choices) {
  json batches = json::object();
  for (const auto& choice : choices) {
    if (choice.batch > 0) batches[key_of(choice.benchmark)] = choice.batch;
  }
  return json{{"preset", to_string(preset)}, {"batches", batches}}.dump(2) + "\n";
}

Result<BatchTable> parse_batch_table(std::string_view text, Preset preset) {
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("batches") || !object["batches"].is_object()) {
    return invalid("there is no object \"batches\"");
  }
  if (object.value("preset", json()) != json(to_string(preset))) {
    return invalid("it was not made for the preset " + std::string(to_string(preset)));
  }
  BatchTable table;
  for (const auto& [key, batch] : object["batches"].items()) {
    if (!batch.is_number_integer() || batch < 1 || batch > std::numeric_limits<int>::max()) {
      return invalid("\"" + key + "\" is " + batch.dump() + ", not a batch size");
    }
    table[key] = batch.get<int>();
  }
  return table;
}

void apply(const BatchTable& table, Benchmark& benchmark) {
  if (benchmark.configuration.mode != Mode::infer || benchmark.variant.batch != 0) return;
  const auto entry = table.find(key_of(benchmark));
  if (entry != table.end()) benchmark.variant.batch = entry->second;
}

}  // namespace torchwatch::comparison
