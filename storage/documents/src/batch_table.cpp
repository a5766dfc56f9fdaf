#include "torchwatch/documents/batch_table.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace torchwatch::comparison {
namespace {

using nlohmann::json;

tl::unexpected<Error> invalid(const std::string& what) {
  return fail(ErrorCode::invalid, "table of batch sizes: " + what,
              "`torchwatch workload batches --out FILE` writes one");
}

}  // namespace

std::string key_in_table(const Benchmark& benchmark) {
  return benchmark.workload + " " + std::string(to_string(benchmark.configuration.device));
}

std::string to_json(Preset preset, const BatchTable& table) {
  return json{{"preset", to_string(preset)}, {"batches", table}}.dump(2) + "\n";
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

void apply(const BatchTable& table, std::vector<Benchmark>& benchmarks) {
  for (auto& benchmark : benchmarks) {
    if (benchmark.configuration.mode != Mode::infer || benchmark.variant.batch != 0) continue;
    const auto entry = table.find(key_in_table(benchmark));
    if (entry != table.end()) benchmark.variant.batch = entry->second;
  }
  std::set<Benchmark> seen;
  std::erase_if(benchmarks, [&](const auto& each) { return !seen.insert(each).second; });
}

}  // namespace torchwatch::comparison
