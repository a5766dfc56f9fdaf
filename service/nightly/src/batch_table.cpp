#include <nlohmann/json.hpp>

#include "torchwatch/nightly/batch_choice.hpp"

namespace torchwatch::nightly {
namespace {

using nlohmann::json;

std::string key_of(const Cell& cell) {
  return cell.workload + " " + std::string(to_string(cell.configuration.device));
}

tl::unexpected<Error> invalid(const std::string& what) {
  return fail(ErrorCode::invalid,
              "table of batch sizes: " + what + "; `torchwatch batches --out FILE` writes one");
}

}  // namespace

std::string to_json(Preset preset, const std::vector<BatchChoice>& choices) {
  json batches = json::object();
  for (const auto& choice : choices) {
    if (choice.batch > 0) batches[key_of(choice.cell)] = choice.batch;
  }
  return json{{"preset", to_string(preset)}, {"batches", batches}}.dump(2) + "\n";
}

Result<BatchTable> parse_batch_table(std::string_view text, Preset preset) {
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("batches") || !object["batches"].is_object()) {
    return invalid("no object \"batches\" in it");
  }
  if (object.value("preset", json()) != json(to_string(preset))) {
    return invalid("it is not of the preset " + std::string(to_string(preset)));
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

void apply(const BatchTable& table, Cell& cell) {
  if (cell.configuration.mode != Mode::infer || cell.variant.batch != 0) return;
  const auto entry = table.find(key_of(cell));
  if (entry != table.end()) cell.variant.batch = entry->second;
}

}  // namespace torchwatch::nightly
