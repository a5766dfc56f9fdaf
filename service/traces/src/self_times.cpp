#include "torchwatch/traces/self_times.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "torchwatch/platform/gzip.hpp"
#include "torchwatch/traces/traces.hpp"

namespace torchwatch::traces {
namespace {

using nlohmann::json;

constexpr std::int64_t kCompressedMax = std::int64_t{8} << 20U;
constexpr std::size_t kPlainMax = std::size_t{24} << 20U;
constexpr std::size_t kKnownMax = 32;

struct Event {
  std::string name;
  double begin = 0;
  double end = 0;
};
using Row = std::pair<std::int64_t, std::int64_t>;  ///< process and thread
using Events = std::map<Row, std::vector<Event>>;

std::int64_t number_in(const json& event, const char* member) {
  const auto found = event.find(member);
  return found != event.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

/// Takes what has a category and a duration: everything else names rows or frames the whole.
void add(const json& event, Events& events) {
  if (!event.is_object() || event.value("ph", "") != "X" || !event.contains("cat")) return;
  const auto begin = event.find("ts");
  const auto length = event.find("dur");
  const auto name = event.find("name");
  if (begin == event.end() || length == event.end() || name == event.end()) return;
  if (!begin->is_number() || !length->is_number() || !name->is_string()) return;
  const auto from = begin->get<double>();
  const auto end = from + length->get<double>();
  if (!std::isfinite(from) || !std::isfinite(end) || end < from) return;
  events[{number_in(event, "pid"), number_in(event, "tid")}].push_back(
      {name->get<std::string>(), from, end});
}

/// Events of a row lie within one another or beside one another; the outer one comes first.
void add_up(std::vector<Event>& row, SelfTimes& times) {
  std::ranges::stable_sort(row, [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<const Event*> open;
  for (const auto& event : row) {
    while (!open.empty() && open.back()->end <= event.begin) open.pop_back();
    const double length = event.end - event.begin;
    if (!open.empty()) {
      const double inside = std::min(event.end, open.back()->end) - event.begin;
      times[open.back()->name].self_us -= inside;
    }
    auto& own = times[event.name];
    ++own.calls;
    own.self_us += length;
    open.push_back(&event);
  }
}

}  // namespace

Result<SelfTimes> self_times_in(std::string_view trace) {
  const auto parsed = json::parse(trace, nullptr, false);
  const bool has_events =
      parsed.is_object() && parsed.contains("traceEvents") && parsed.at("traceEvents").is_array();
  if (!has_events) return fail(ErrorCode::corrupt, "it is no Chrome trace");
  Events events;
  try {
    for (const auto& event : parsed.at("traceEvents")) add(event, events);
  } catch (const json::exception& exception) {  // a member of another type
    return fail(ErrorCode::corrupt, std::string("it is no Chrome trace: ") + exception.what());
  }
  SelfTimes times;
  for (auto& [row, of_row] : events) add_up(of_row, times);
  return times;
}

std::vector<SelfTimeChange> changes_between(const SelfTimes& before, const SelfTimes& after) {
  std::map<std::string, SelfTimeChange> all;
  for (const auto& [name, time] : before) all[name].before = time;
  for (const auto& [name, time] : after) all[name].after = time;
  std::vector<SelfTimeChange> changes;
  for (auto& [name, change] : all) {
    change.name = name;
    changes.push_back(std::move(change));
  }
  std::ranges::stable_sort(changes, std::ranges::greater{}, [](const SelfTimeChange& change) {
    return std::abs(change.difference_us());
  });
  return changes;
}

Result<std::shared_ptr<const SelfTimes>> SelfTimeReader::of(const std::filesystem::path& file) {
  const std::scoped_lock lock(mutex_);
  const auto known = known_.find(file);
  if (known != known_.end()) return known->second;
  const auto size = size_of(file);
  if (!size) return fail(ErrorCode::not_found, "no trace " + file.filename().string());
  if (*size > kCompressedMax) {
    return fail(ErrorCode::invalid, "the trace is larger than 8 MiB, which is not added up");
  }
  TW_TRY(const auto compressed, read(file));
  TW_TRY(const auto plain, platform::gunzip(compressed, kPlainMax));
  TW_TRY(auto times, self_times_in(plain));
  if (known_.size() >= kKnownMax) known_.clear();
  return known_[file] = std::make_shared<const SelfTimes>(std::move(times));
}

}  // namespace torchwatch::traces
