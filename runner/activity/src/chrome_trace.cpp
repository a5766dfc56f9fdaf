#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "torchwatch/activity/profile.hpp"

namespace torchwatch::activity {
namespace {

using nlohmann::json;

constexpr int kHost = 0;
constexpr int kDevice = 1;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

/// Returns the name unchanged if it is not a C++ name.
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, Free> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return text ? text.get() : name;
}

std::string title(const Activity& activity) {
  if (activity.kind != Kind::kernel || activity.name.empty()) {
    return std::string(to_string(activity.kind));
  }
  return demangled(std::string(activity.name));
}

json complete_event(const std::string& name, Window window, std::int64_t origin_ns) {
  constexpr double kNanosecondsPerMicrosecond = 1e3;
  const auto microseconds = [&](std::int64_t ns) {
    return static_cast<double>(ns) / kNanosecondsPerMicrosecond;
  };
  return {{"ph", "X"},
          {"name", name},
          {"ts", microseconds(window.begin_ns - origin_ns)},
          {"dur", microseconds(window.length_ns())}};
}

json row_name(int process, const std::string& name) {
  return {{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", name}}}};
}

json event_of(const Activity& activity, std::int64_t origin_ns) {
  auto event = complete_event(title(activity), {activity.start_ns, activity.end_ns}, origin_ns);
  event["cat"] = to_string(activity.kind);
  event["pid"] = kDevice;
  event["tid"] = activity.stream;
  if (activity.kind != Kind::kernel) event["args"] = {{"bytes", activity.bytes}};
  return event;
}

}  // namespace

std::string chrome_trace(const Profile& profile, const std::string& iteration_name) {
  const auto& window = profile.iteration.window;
  auto iteration = complete_event(iteration_name, window, window.begin_ns);
  iteration["pid"] = kHost;
  iteration["tid"] = 0;
  json events = {row_name(kHost, "iteration"), row_name(kDevice, "device, by stream"), iteration};
  for (const auto& activity : profile.activities) {
    events.push_back(event_of(activity, window.begin_ns));
  }
  const json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return trace.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace torchwatch::activity
