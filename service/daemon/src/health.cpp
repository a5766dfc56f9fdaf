#include "health.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "torchwatch/report/alarm.hpp"

namespace torchwatch::daemon {
namespace {

/// What a stranger sees: details may hold paths and the output of compilers.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kSentences{{
    {"storage", "the database cannot be written; the log says why"},
    {"web", "some clients cannot be answered; the log says why"},
    {"channel", "the channel cannot be listed; the log says why"},
    {"database", "stored rows break rules; `torchwatch database check` lists them"},
    {"cache", "the caches cannot be brought to their limit; the log says why"},
    {"disk", "the disk is nearly full, so no work is begun; the log says where"},
    {"alarms", "missing data cannot be looked for; the log says why"},
    {"housekeeping", "old rows and logs cannot be removed; the log says why"},
    {"machine_lock", "somebody else keeps the machine from measuring; the log says who"},
    {"service", "a fault of torchwatch itself; the log says which, please report it"},
    {"outbox", "messages cannot be delivered; `torchwatch outbox list` and the log say why"},
}};
constexpr std::string_view kPutOff = "put off, and tried again later; `torchwatch status` says why";

std::string sentence_on(std::string_view source) {
  const auto found =
      std::ranges::find(kSentences, source, &decltype(kSentences)::value_type::first);
  return std::string(found == kSentences.end() ? kPutOff : found->second);
}

api::Problem problem_of(const storage::SetbackRow& row) {
  const std::string source(to_string(row.key.kind));
  const bool is_service = row.key.kind == storage::ItemKind::channel;
  return {source, is_service ? "" : row.key.item, row.since, sentence_on(source)};
}

}  // namespace

void Health::set_items(const std::vector<storage::SetbackRow>& rows) {
  std::vector<api::Problem> items;
  for (const auto& row : rows) items.push_back(problem_of(row));
  const std::scoped_lock lock(mutex_);
  items_ = std::move(items);
}

void Health::set_alarms(const std::vector<storage::AlarmRow>& rows) {
  std::vector<api::Problem> alarms;
  for (const auto& row : rows) {
    alarms.push_back(
        {"alarm", std::string(to_string(row.cause)), row.since, report::alarm_sentence(row)});
  }
  const std::scoped_lock lock(mutex_);
  alarms_ = std::move(alarms);
}

bool Health::set_source(const std::string& source, const std::string& problem,
                        storage::WallMillis now) {
  const std::scoped_lock lock(mutex_);
  const auto known =
      std::ranges::find(sources_, source, [](const Source& each) { return each.shown.source; });
  if (problem.empty()) {
    if (known == sources_.end()) return false;
    sources_.erase(known);
    return true;
  }
  if (known == sources_.end()) {
    sources_.push_back({{source, "", now, sentence_on(source)}, problem});
    return true;
  }
  const bool is_other = known->detail != problem;
  known->detail = problem;
  return is_other;
}

std::vector<api::Problem> Health::problems() const {
  const std::scoped_lock lock(mutex_);
  std::vector<api::Problem> all;
  for (const auto& source : sources_) all.push_back(source.shown);
  all.insert(all.end(), alarms_.begin(), alarms_.end());
  all.insert(all.end(), items_.begin(), items_.end());
  return all;
}

}  // namespace torchwatch::daemon
