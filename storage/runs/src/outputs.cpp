#include "outputs.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "owner_column.hpp"
#include "query.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

using nlohmann::json;

double number_of(const json& value) {
  return value.is_null() ? std::nan("") : value.get<double>();
}

OutputFigures output_of(const json& object) {
  OutputFigures output{.name = object.at("name").get<std::string>(),
                       .scale = number_of(object.at("scale")),
                       .figures = {}};
  for (const auto& figure : object.at("figures")) output.figures.push_back(number_of(figure));
  return output;
}

}  // namespace

std::string text_of_outputs(const std::vector<OutputFigures>& outputs) {
  json list = json::array();
  for (const auto& each : outputs) {
    list.push_back({{"name", each.name}, {"scale", each.scale}, {"figures", each.figures}});
  }
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::vector<OutputFigures>> parse_outputs(std::string_view text) {
  std::vector<OutputFigures> outputs;
  try {
    const auto list = json::parse(text);
    for (const auto& each : list) outputs.push_back(output_of(each));
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored outputs: ") + exception.what());
  }
  return outputs;
}

Result<std::vector<OutputFigures>> RunStore::first_outputs(Owner owner,
                                                           const Benchmark& benchmark) {
  return read(database_, [&](Connection& connection) -> Result<std::vector<OutputFigures>> {
    Query query(connection,
                "SELECT figures FROM attempt JOIN benchmark ON benchmark.id = benchmark_id "
                "JOIN workload_output ON attempt_id = attempt.id WHERE " +
                    owner_column(owner.kind) +
                    " = ? AND workload = ? AND configuration = ? AND variant = ? "
                    "ORDER BY attempt_id LIMIT 1",
                owner.id, benchmark.workload, to_string(benchmark.configuration),
                to_string(benchmark.variant));
    if (!query.next()) return std::vector<OutputFigures>();
    return parse_outputs(query.take<std::string>());
  });
}

}  // namespace torchwatch::storage
