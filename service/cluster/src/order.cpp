#include "torchwatch/cluster/order.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "torchwatch/executor/belief.hpp"

namespace torchwatch::cluster {
namespace {

using nlohmann::json;

constexpr int kSchema = 2;
constexpr int kDepthMax = 6;
constexpr std::size_t kReasonBytesMax = 4U << 10U;
constexpr std::size_t kOutputBytesMax = 16U << 10U;

std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// Parses an object. Deep nesting is cut off, as writing it again would need the stack for it.
std::optional<json> parse_object(std::string_view text) {
  bool is_deep = false;
  const auto guard = [&](int depth, json::parse_event_t, json&) {
    is_deep = is_deep || depth > kDepthMax;
    return !is_deep;
  };
  auto object = json::parse(text, guard, false);
  if (is_deep || !object.is_object()) return {};
  return object;
}

/// Takes texts and numbers out of an object; the first that is missing or of another type makes it
/// fail.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  template <typename T>
  void take(const char* name, T& value) {
    const auto found = object_.find(name);
    if (found == object_.end()) return note(name);
    try {
      value = found->get<T>();
    } catch (const json::exception&) {
      note(name);
    }
  }
  Status status() const {
    if (wrong_.empty()) return {};
    return fail(ErrorCode::invalid, "order: " + wrong_ + " is missing or of the wrong type");
  }

 private:
  void note(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }
  const json& object_;
  std::string wrong_;
};

json to_object(const executor::RunSpec& run) {
  json object{{"request", protocol::to_json(run.request)},
              {"runner", run.runner.string()},
              {"libraries", run.libraries.string()},
              {"fresh_copy", run.fresh_copy}};
  if (!run.environment.empty()) object["environment"] = run.environment;
  if (!run.command) return object;
  object["command"] = run.command->words;
  object["readable"] = json::array();
  for (const auto& path : run.command->readable) object["readable"].push_back(path.string());
  return object;
}

Result<executor::RunSpec> run_of(const json& object) {
  executor::RunSpec run;
  std::string request;
  std::string runner;
  std::string libraries;
  Reader reader(object);
  reader.take("request", request);
  reader.take("runner", runner);
  reader.take("libraries", libraries);
  reader.take("fresh_copy", run.fresh_copy);
  if (object.contains("environment")) reader.take("environment", run.environment);
  TW_TRY_VOID(reader.status());
  TW_TRY(run.request, protocol::parse_request(request));
  run.runner = runner;
  run.libraries = libraries;
  if (!object.contains("command")) return run;
  std::vector<std::string> readable;
  auto& command = run.command.emplace();
  reader.take("command", command.words);
  reader.take("readable", readable);
  TW_TRY_VOID(reader.status());
  command.readable.assign(readable.begin(), readable.end());
  return run;
}

json to_object(const CarrySettings& settings) {
  return {{"scratch", settings.scratch.string()},
          {"machine_lock", settings.machine_lock},
          {"threads", settings.threads},
          {"output_limit", settings.output_limit_bytes},
          {"sandbox", settings.sandbox},
          {"readable", settings.readable},
          {"link_targets", settings.link_targets},
          {"hidden", settings.hidden},
          {"hidden_with_copies", settings.hidden_with_copies}};
}

Result<CarrySettings> settings_of(const json& object) {
  CarrySettings settings;
  std::string scratch;
  Reader reader(object);
  reader.take("scratch", scratch);
  reader.take("machine_lock", settings.machine_lock);
  reader.take("threads", settings.threads);
  reader.take("output_limit", settings.output_limit_bytes);
  reader.take("sandbox", settings.sandbox);
  reader.take("readable", settings.readable);
  reader.take("link_targets", settings.link_targets);
  reader.take("hidden", settings.hidden);
  reader.take("hidden_with_copies", settings.hidden_with_copies);
  TW_TRY_VOID(reader.status());
  settings.scratch = scratch;
  return settings;
}

std::string printable(std::string text, std::size_t bytes_max) {
  if (text.size() > bytes_max) text.resize(bytes_max);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c != '\n' && c != '\t' && (c < ' ' || c > '~'); }, '?');
  return text;
}

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

executor::RunOutcome outcome_of(const json& object, const protocol::Request& request,
                                std::chrono::nanoseconds waited) {
  if (!object.contains("result")) {
    return executor::RunFailure{.reason = printable(text_of(object, "failure"), kReasonBytesMax),
                                .output = printable(text_of(object, "output"), kOutputBytesMax),
                                .is_killed = flag_of(object, "is_killed")};
  }
  auto result = executor::believed(text_of(object, "result"), request, waited);
  if (result) return std::move(*result);
  return executor::RunFailure{
      .reason = printable(executor::reason_of_disbelief(result.error()), kReasonBytesMax),
      .output = {},
      .is_killed = false};
}

}  // namespace

std::string to_json(const Order& order) {
  json runs = json::array();
  for (const auto& run : order.block.runs) runs.push_back(to_object(run));
  return line_of({{"carry", kSchema},
                  {"order", order.id},
                  {"runs", runs},
                  {"is_in_pairs", order.block.is_in_pairs},
                  {"settings", to_object(order.settings)}});
}

Result<Order> parse_order(std::string_view text) {
  const auto object = parse_object(text);
  if (text.size() > kOrderBytesMax || !object) {
    return fail(ErrorCode::corrupt, "order: not an object of JSON on one line");
  }
  Order order;
  int schema = 0;
  json runs;
  json settings;
  Reader reader(*object);
  reader.take("carry", schema);
  reader.take("order", order.id);
  reader.take("runs", runs);
  reader.take("is_in_pairs", order.block.is_in_pairs);
  reader.take("settings", settings);
  if (schema != kSchema) {
    return fail(ErrorCode::invalid, "order of another version of torchwatch (" +
                                        std::to_string(schema) + "; this is " +
                                        std::to_string(kSchema) + ")");
  }
  TW_TRY_VOID(reader.status());
  if (!runs.is_array() || runs.empty() || runs.size() > kRunsMax) {
    return fail(ErrorCode::invalid, "order: must have 1 to " + std::to_string(kRunsMax) + " runs");
  }
  if (order.block.is_in_pairs && runs.size() % 2 != 0) {
    return fail(ErrorCode::invalid, "order: one run of a pair is missing");
  }
  for (const auto& run : runs) {
    TW_TRY(auto read, run_of(run));
    order.block.runs.push_back(std::move(read));
  }
  TW_TRY(order.settings, settings_of(settings));
  return order;
}

std::string greeting_line(const Order& order, const std::string& node) {
  return line_of({{"carry", kSchema}, {"order", order.id}, {"node", node}});
}

std::string outcome_line(const std::string& attempt, const executor::RunOutcome& outcome) {
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
    return line_of({{"attempt", attempt},
                    {"failure", failure->reason},
                    {"output", failure->output},
                    {"is_killed", failure->is_killed}});
  }
  // As a text: whoever reads it parses it with the limits of a result.
  return line_of(
      {{"attempt", attempt}, {"result", protocol::to_json(std::get<RunResult>(outcome))}});
}

std::string ended_line(const Order& order) {
  return line_of({{"ended", order.id}});
}

std::string refusal_line(const Order& order, const std::string& reason) {
  return line_of({{"refused", order.id}, {"reason", reason}});
}

Answer parse_answer(const Order& order, std::string_view output, std::chrono::nanoseconds waited) {
  Answer answer;
  std::map<std::string, json> outcomes;
  bool has_ended = false;
  bool is_twice = false;
  while (!output.empty()) {
    const auto end = std::min(output.find('\n'), output.size());
    const auto line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    auto object = line.starts_with('{') ? parse_object(line) : std::nullopt;
    if (!object) {
      answer.messages += std::string(line.substr(0, kReasonBytesMax)) + "\n";
    } else if (text_of(*object, "refused") == order.id) {
      answer.refusal = printable(text_of(*object, "reason"), kReasonBytesMax);
      if (answer.refusal.empty()) answer.refusal = "the node gives no reason";
    } else if (text_of(*object, "order") == order.id) {
      answer.node = printable(text_of(*object, "node"), kReasonBytesMax);
    } else if (text_of(*object, "ended") == order.id) {
      has_ended = true;
    } else if (const auto attempt = text_of(*object, "attempt"); !attempt.empty()) {
      is_twice = !outcomes.emplace(attempt, std::move(*object)).second || is_twice;
    }
  }
  if (!has_ended || is_twice || outcomes.size() != order.block.runs.size()) return answer;
  for (const auto& run : order.block.runs) {
    const auto found = outcomes.find(run.request.attempt);
    if (found == outcomes.end()) {
      answer.outcomes.clear();
      return answer;
    }
    answer.outcomes.push_back(outcome_of(found->second, run.request, waited));
  }
  return answer;
}

std::string to_json(const ProcessOrder& order) {
  const auto& spec = order.spec;
  return line_of({{"process", kSchema},
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

namespace {

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

}  // namespace torchwatch::cluster
