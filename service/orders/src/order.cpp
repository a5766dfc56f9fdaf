#include "torchwatch/orders/order.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "order_json.hpp"
#include "torchwatch/executor/belief.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::orders {
namespace {

using nlohmann::json;

constexpr std::size_t kReasonBytesMax = 4U << 10U;
constexpr std::size_t kOutputBytesMax = 16U << 10U;

std::string printable(std::string text, std::size_t bytes_max) {
  if (text.size() > bytes_max) text.resize(bytes_max);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c != '\n' && c != '\t' && (c < ' ' || c > '~'); }, '?');
  return text;
}

json to_object(const CopiedFolder& folder) {
  json files = json::array();
  for (const auto& file : folder.files) files.push_back({file.path.string(), file.sha256});
  return {{"root", folder.root.string()}, {"files", files}};
}

/// A name that leads nowhere but into the copy.
bool is_below(const std::filesystem::path& path) {
  return !path.empty() && path.is_relative() && path == path.lexically_normal() &&
         *path.begin() != "..";
}

Result<CopiedFolder> copied_folder_of(const json& object) {
  constexpr std::size_t kSha256Digits = 64;
  std::string root;
  std::vector<std::array<std::string, 2>> files;
  Reader reader(object);
  reader.take("root", root);
  reader.take("files", files);
  TW_TRY_VOID(reader.status());
  CopiedFolder folder{.root = root, .files = {}};
  for (auto& [path, sha256] : files) {
    if (!is_below(path) || !is_hex(sha256, kSha256Digits, kSha256Digits)) {
      return fail(ErrorCode::invalid, "order: a copy with the file " + path + " of " + sha256);
    }
    folder.files.push_back({path, std::move(sha256)});
  }
  return folder;
}

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
          {"hidden_with_copies", settings.hidden_with_copies},
          {"copies_limit", settings.copies_limit_bytes}};
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
  reader.take("copies_limit", settings.copies_limit_bytes);
  TW_TRY_VOID(reader.status());
  settings.scratch = scratch;
  return settings;
}

/// What the order does not name is nothing to send.
Lack lack_of(const Order& order, const json& object) {
  const auto hashes = object.value("hashes", json::array());
  Lack lack{.folder = text_of(object, "folder"), .hashes = {}};
  for (const auto& folder : order.copies) {
    for (const auto& file : folder.files) {
      const bool is_asked_for = std::ranges::find(hashes, json(file.sha256)) != hashes.end();
      const bool is_new = std::ranges::find(lack.hashes, file.sha256) == lack.hashes.end();
      if (is_asked_for && is_new) lack.hashes.push_back(file.sha256);
    }
  }
  return lack;
}

executor::RunOutcome outcome_of(const json& object, const protocol::Request& request,
                                std::chrono::nanoseconds waited) {
  if (!object.contains("result")) {
    const auto kind = parse_word<executor::FailureKind>(text_of(object, "kind"));
    return executor::RunFailure{.reason = printable(text_of(object, "failure"), kReasonBytesMax),
                                .output = printable(text_of(object, "output"), kOutputBytesMax),
                                .kind = kind.value_or(executor::FailureKind::other)};
  }
  auto result = executor::believed(text_of(object, "result"), request, waited);
  if (result) return std::move(*result);
  auto failure = executor::disbelieved(result.error());
  failure.reason = printable(failure.reason, kReasonBytesMax);
  return failure;
}

}  // namespace

std::string to_json(const Order& order) {
  json runs = json::array();
  for (const auto& run : order.block.runs) runs.push_back(to_object(run));
  json copies = json::array();
  for (const auto& folder : order.copies) copies.push_back(to_object(folder));
  return line_of({{"carry", kOrderSchema},
                  {"order", order.id},
                  {"runs", runs},
                  {"is_in_pairs", order.block.is_in_pairs},
                  {"copies", copies},
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
  json copies;
  json settings;
  Reader reader(*object);
  reader.take("carry", schema);
  reader.take("order", order.id);
  reader.take("runs", runs);
  reader.take("is_in_pairs", order.block.is_in_pairs);
  reader.take("copies", copies);
  reader.take("settings", settings);
  if (schema != kOrderSchema) {
    return fail(ErrorCode::invalid, "order of another version of torchwatch (" +
                                        std::to_string(schema) + "; this is " +
                                        std::to_string(kOrderSchema) + ")");
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
  for (const auto& folder : copies) {
    TW_TRY(auto read, copied_folder_of(folder));
    order.copies.push_back(std::move(read));
  }
  TW_TRY(order.settings, settings_of(settings));
  return order;
}

std::string greeting_line(const Order& order, const std::string& node) {
  return line_of({{"carry", kOrderSchema}, {"order", order.id}, {"node", node}});
}

std::string outcome_line(const std::string& attempt, const executor::RunOutcome& outcome) {
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
    return line_of({{"attempt", attempt},
                    {"failure", failure->reason},
                    {"output", failure->output},
                    {"kind", spelling(failure->kind)}});
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

std::string lack_line(const Order& order, const Lack& lack) {
  return line_of({{"lacks", order.id}, {"folder", lack.folder.string()}, {"hashes", lack.hashes}});
}

bool ends_answer(const Order& order, std::string_view line) {
  // Only such lines begin so: results are long, and need not be read twice.
  constexpr std::array kBegins{R"({"ended":)", R"({"reason":)", R"({"folder":)"};
  const auto begins = [&](const char* text) { return line.starts_with(text); };
  if (std::ranges::none_of(kBegins, begins)) return false;
  const auto object = parse_object(line);
  if (!object) return false;
  const auto is_of_order = [&](const char* name) { return text_of(*object, name) == order.id; };
  return is_of_order("ended") || is_of_order("refused") || is_of_order("lacks");
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
    } else if (text_of(*object, "lacks") == order.id) {
      answer.lack = lack_of(order, *object);
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

}  // namespace torchwatch::orders
