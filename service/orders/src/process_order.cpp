#include "order_json.hpp"
#include "torchwatch/orders/order.hpp"

namespace torchwatch::orders {
namespace {

using nlohmann::json;

/// How a process ended, as a word and a number.
std::pair<std::string, int> words_of(const process::ProcessEnd& end) {
  if (const auto* exited = std::get_if<process::Exited>(&end)) return {"exited", exited->code};
  if (const auto* by = std::get_if<process::Signalled>(&end)) return {"signalled", by->signal};
  if (std::holds_alternative<process::TimedOut>(end)) return {"timed out", 0};
  if (std::holds_alternative<process::OutputLimit>(end)) return {"output limit", 0};
  return {"lost", 0};
}

process::ProcessEnd end_of(const std::string& word, int number, const std::string& reason) {
  if (word == "exited") return process::Exited{number};
  if (word == "signalled") return process::Signalled{number};
  if (word == "timed out") return process::TimedOut{};
  if (word == "output limit") return process::OutputLimit{};
  return process::Lost{reason};
}

}  // namespace

std::string to_json(const ProcessOrder& order) {
  const auto& spec = order.spec;
  return line_of({{"process", kOrderSchema},
                  {"id", order.id},
                  {"program", spec.program.string()},
                  {"arguments", spec.arguments},
                  {"environment", spec.environment},
                  {"working_folder", spec.working_folder.string()},
                  {"time_limit_ms", spec.time_limit.count()},
                  {"output_limit", spec.output_limit_bytes},
                  {"label", spec.label},
                  {"launcher", spec.launcher},
                  {"uses_all_cores", order.uses_all_cores}});
}

Result<ProcessOrder> parse_process_order(std::string_view text) {
  const auto object = parse_object(text);
  if (!object) return fail(ErrorCode::corrupt, "order: not a JSON object");
  ProcessOrder order{};
  std::string program;
  std::string working_folder;
  std::int64_t time_limit_ms = 0;
  Reader reader(*object);
  reader.take("id", order.id);
  reader.take("program", program);
  reader.take("arguments", order.spec.arguments);
  reader.take("environment", order.spec.environment);
  reader.take("working_folder", working_folder);
  reader.take("time_limit_ms", time_limit_ms);
  reader.take("output_limit", order.spec.output_limit_bytes);
  reader.take("label", order.spec.label);
  reader.take("launcher", order.spec.launcher);
  reader.take("uses_all_cores", order.uses_all_cores);
  TW_TRY_VOID(reader.status());
  order.spec.program = program;
  order.spec.working_folder = working_folder;
  order.spec.time_limit = std::chrono::milliseconds(time_limit_ms);
  return order;
}

std::string process_ended_line(const ProcessOrder& order, const process::ProcessOutcome& outcome) {
  const auto [word, number] = words_of(outcome.end);
  return line_of({{"process_ended", order.id},
                  {"end", word},
                  {"number", number},
                  {"reason", process::describe(outcome.end)},
                  {"output", outcome.output}});
}

std::optional<process::ProcessOutcome> parse_process_end(const ProcessOrder& order,
                                                         std::string_view output) {
  constexpr std::string_view kBegin = "{\"end\":";
  const auto begin = output.rfind(kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto line = output.substr(begin, output.find('\n', begin) - begin);
  const auto object = parse_object(line);
  if (!object || text_of(*object, "process_ended") != order.id) return std::nullopt;
  const auto number = object->value("number", json());
  if (!number.is_number_integer()) return std::nullopt;
  process::ProcessOutcome outcome{};
  outcome.end = end_of(text_of(*object, "end"), number.get<int>(), text_of(*object, "reason"));
  outcome.output = text_of(*object, "output");
  return outcome;
}

}  // namespace torchwatch::orders
