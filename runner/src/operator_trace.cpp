#include "torchwatch/runner/operator_trace.hpp"

#include <map>
#include <nlohmann/json.hpp>

namespace torchwatch::runner {
namespace {

using nlohmann::json;

constexpr int kProcess = 0;

json named(const char* what, int thread, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", kProcess}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Traces count in microseconds.
double microseconds(std::int64_t ns) {
  constexpr double kNanosecondsPerMicrosecond = 1e3;
  return static_cast<double>(ns) / kNanosecondsPerMicrosecond;
}

}  // namespace

std::string chrome_trace(const OperatorCalls& of, const std::string& work_name) {
  const auto event = [&](const std::string& name, int thread, std::int64_t begin,
                         std::int64_t end) -> json {
    return {{"ph", "X"},
            {"name", name},
            {"pid", kProcess},
            {"tid", thread},
            {"ts", microseconds(begin - of.begin_ns)},
            {"dur", microseconds(end - begin)}};
  };
  // Threads are counted from 1 in the order of their first call: their own numbers say nothing.
  std::map<std::uint64_t, int> threads;
  json events = {named("process_name", 0, "one iteration on the CPU, operators by thread"),
                 named("thread_name", 0, "iteration"), event(work_name, 0, of.begin_ns, of.end_ns)};
  for (const auto& call : of.calls) {
    const auto [thread, is_new] =
        threads.emplace(call.thread, static_cast<int>(threads.size()) + 1);
    if (is_new) {
      events.push_back(
          named("thread_name", thread->second, "thread " + std::to_string(thread->second)));
    }
    auto of_operator = event(call.name, thread->second, call.begin_ns, call.end_ns);
    of_operator["cat"] = "operator";
    events.push_back(std::move(of_operator));
  }
  json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  if (of.left_out > 0) {
    trace["otherData"] = {{"left_out", std::to_string(of.left_out) + " calls, the last ones"}};
  }
  return trace.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace torchwatch::runner
