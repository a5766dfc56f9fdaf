#include "toy_night.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::storage {
namespace {

constexpr WallMillis kNow = 1'000;
constexpr int kEvents = 3;
constexpr const char* kIncidentKey = "incident";

/// The number of the message's issue, if the tracker has it.
std::optional<std::int64_t> look_up(const std::filesystem::path& tracker, const std::string& key) {
  std::ifstream file(tracker);
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (line == key) return number;
  }
  return std::nullopt;
}

/// One request to the tracker: whole or not at all, and never taken back.
Result<std::int64_t> post(const std::filesystem::path& tracker, const std::string& key) {
  const UniqueFd file(::open(tracker.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const auto line = key + "\n";
  if (!file.is_open() || ::write(file.get(), line.data(), line.size()) < 0) {
    return fail(ErrorCode::internal, "the toy tracker does not work");
  }
  return look_up(tracker, key).value_or(0);
}

/// By value: a loop over `result.value()` would run over a temporary that is gone.
template <typename T>
T must(Result<T> result) {
  return std::move(result).value();
}

RunResult toy_result(const std::string& token, const std::string& slot) {
  auto result = full_result(token);
  result.samples_ns.assign(30, static_cast<std::int64_t>(slot.size()) * 1000);
  return result;
}

}  // namespace

struct ToyNight::Step {
  std::function<Result<bool>(ToyNight&)> is_done;
  std::function<Status(ToyNight&)> perform;
};

const std::vector<ToyNight::Step>& ToyNight::plan() {
  static const Owner kNight{OwnerKind::night, 1};
  static const Owner kSearch{OwnerKind::bisection, 1};
  const auto past = [](NightState state) {
    return [state](ToyNight& toy) { return toy.night_is_past(state); };
  };
  const auto run = [](const Owner& owner, const std::string& slot) {
    return Step{[&owner, slot](ToyNight& toy) { return toy.run_is_over(owner, slot); },
                [&owner, slot](ToyNight& toy) { return toy.run(owner, slot); }};
  };
  static const std::vector<Step> steps{
      {&ToyNight::builds_are_ready, &ToyNight::make_builds_ready},
      {past(NightState::ready), &ToyNight::plan_night},
      run(kNight, "A1"),
      run(kNight, "B1"),
      run(kNight, "crash"),
      run(kNight, "A2"),
      {past(NightState::measured), &ToyNight::end_measuring},
      {past(NightState::judged), &ToyNight::judge},
      {&ToyNight::search_is_open, &ToyNight::open_search},
      run(kSearch, "probe 1"),
      {&ToyNight::search_has_ended, &ToyNight::search_on},
      {past(NightState::bisected), &ToyNight::end_search},
      {past(NightState::reported), &ToyNight::queue_issue},
      {&ToyNight::outbox_is_empty, &ToyNight::send_messages},
      {&ToyNight::incident_is_closed, &ToyNight::close_incident},
      {&ToyNight::request_is_answered, &ToyNight::answer_request},
  };
  return steps;
}

int ToyNight::steps() {
  return static_cast<int>(plan().size());
}

Result<int> ToyNight::steps_done() {
  int done = 0;
  for (const auto& step : plan()) {
    TW_TRY(const bool is_done, step.is_done(*this));
    if (!is_done) break;
    ++done;
  }
  return done;
}

Status ToyNight::play(const std::function<void(int)>& acknowledge) {
  TW_TRY_VOID(stores_.runs.abandoned_leftovers(kNow));
  TW_TRY_VOID(stores_.requests.reopened());
  TW_TRY(int done, steps_done());
  for (; done < steps(); ++done) {
    TW_TRY_VOID(plan()[static_cast<std::size_t>(done)].perform(*this));
    acknowledge(done + 1);
  }
  return {};
}

Result<bool> ToyNight::builds_are_ready() {
  TW_TRY(const auto builds, stores_.builds.list());
  return builds.size() == 2 && builds[1].state == BuildState::ready;
}

Status ToyNight::make_builds_ready() {
  for (const std::string name : {"n1", "n2"}) {
    TW_TRY(auto row, stores_.builds.discovered(BuildOrigin::nightly, name));
    row.content_hash = "hash of " + name;
    row.folder = "/builds/" + name;
    TW_TRY_VOID(stores_.builds.became_ready(row));
  }
  return {};
}

Result<NightRow> ToyNight::night() {
  return stores_.nights.opened(NightKind::nightly, 2, 1, kNow);
}

Result<bool> ToyNight::night_is_past(NightState state) {
  TW_TRY(const auto nights, stores_.nights.list(1));
  return !nights.empty() && nights[0].state >= state;
}

Status ToyNight::plan_night() {
  TW_TRY(auto row, night());
  if (row.plan_json.empty()) {
    TW_TRY(row, stores_.nights.planned(row, "{\"slots\":4}"));
  }
  TW_TRY_VOID(stores_.nights.advanced(row, NightState::ready, kNow));
  return {};
}

Result<bool> ToyNight::run_is_over(const Owner& owner, const std::string& slot) {
  TW_TRY(const auto runs, stores_.runs.runs_of(owner));
  for (const auto& run : runs) {
    if (run.slot == slot) return true;
  }
  return false;
}

Status ToyNight::run(const Owner& owner, const std::string& slot) {
  TW_TRY(const int attempts, stores_.runs.attempts_of_slot(owner, slot));
  const auto token = std::string(owner.kind == OwnerKind::night ? "n " : "s ") + slot + " " +
                     std::to_string(attempts);
  TW_TRY_VOID(stores_.runs.issued({owner, slot, 2, kCell, Pass::timing}, token, kNow));
  if (slot == "crash") return stores_.runs.failed(token, "killed by signal 11", "oh", kNow);
  return stores_.runs.finished(token, toy_result(token, slot), kNow);
}

Status ToyNight::end_measuring() {
  TW_TRY(const auto row, night());
  TW_TRY_VOID(stores_.nights.advanced(row, NightState::measured, kNow));
  return {};
}

Status ToyNight::judge() {
  return stores_.database->transact([&]() -> Status {
    TW_TRY(const auto row, night());
    VerdictRow verdict;
    verdict.night = row.id;
    verdict.target = kTime;
    verdict.verdict = Verdict::regressed;
    TW_TRY_VOID(stores_.nights.verdict_reached(verdict));
    TW_TRY_VOID(stores_.incidents.opened(incident_of(row, kIncidentKey)));
    TW_TRY_VOID(stores_.nights.advanced(row, NightState::judged, kNow));
    return {};
  });
}

Result<bool> ToyNight::search_is_open() {
  TW_TRY(const auto searches, stores_.bisections.list(1));
  return !searches.empty();
}

Status ToyNight::open_search() {
  return stores_.database->transact([&]() -> Status {
    BisectionRow row;
    row.incident = 1;
    row.good = "a";
    row.bad = "z";
    TW_TRY(row, stores_.bisections.opened(row));
    return stores_.incidents.attached(1, row.id);
  });
}

Result<bool> ToyNight::search_has_ended() {
  TW_TRY(const auto events, stores_.bisections.events_of(1));
  return events.size() == kEvents;
}

Status ToyNight::search_on() {
  TW_TRY(const auto events, stores_.bisections.events_of(1));
  for (int next = static_cast<int>(events.size()); next < kEvents; ++next) {
    TW_TRY_VOID(stores_.bisections.happened(1, {next, "probed", std::to_string(next)}));
  }
  return {};
}

Status ToyNight::end_search() {
  return stores_.database->transact([&]() -> Status {
    TW_TRY(const auto search, stores_.bisections.get(1));
    TW_TRY_VOID(stores_.bisections.ended(search, "{\"culprit\":\"m\"}", kNow));
    TW_TRY(const auto row, night());
    TW_TRY_VOID(stores_.nights.advanced(row, NightState::bisected, kNow));
    return {};
  });
}

Status ToyNight::queue_issue() {
  return stores_.database->transact([&]() -> Status {
    TW_TRY(const auto incident, stores_.incidents.get(1));
    TW_TRY_VOID(stores_.incidents.queued(message_of(incident, "opening", OutboxKind::open)));
    TW_TRY_VOID(stores_.incidents.queued(message_of(incident, "comment", OutboxKind::comment)));
    TW_TRY(const auto row, night());
    TW_TRY_VOID(stores_.nights.advanced(row, NightState::reported, kNow));
    return {};
  });
}

Result<bool> ToyNight::outbox_is_empty() {
  TW_TRY(const auto due, stores_.incidents.next_due(kNow));
  return !due;
}

Status ToyNight::send_messages() {
  while (true) {
    TW_TRY(const auto due, stores_.incidents.next_due(kNow));
    if (!due) return {};
    TW_TRY_VOID(send(*due));
  }
}

Status ToyNight::send(const OutboxRow& message) {
  if (message.state == OutboxState::pending) TW_TRY_VOID(stores_.incidents.sending(message.key));
  auto number = look_up(tracker_, message.key);
  if (!number) {
    TW_TRY(number, post(tracker_, message.key));
  }
  return stores_.incidents.sent(message.key, *number);
}

Result<bool> ToyNight::incident_is_closed() {
  TW_TRY(const auto incident, stores_.incidents.get(1));
  return incident.state == IncidentState::closed;
}

Status ToyNight::close_incident() {
  return stores_.incidents.closed(1, kNow);
}

Result<bool> ToyNight::request_is_answered() {
  TW_TRY(const auto requests, stores_.requests.list(1));
  return !requests.empty() && requests[0].state == RequestState::done;
}

Status ToyNight::answer_request() {
  TW_TRY_VOID(stores_.requests.received("delivery", RequestKind::nightly, "{}", kNow));
  TW_TRY_VOID(stores_.requests.reopened());
  TW_TRY(const auto request, stores_.requests.taken());
  if (!request) return fail(ErrorCode::internal, "the toy request is lost");
  return stores_.requests.answered(request->id, RequestState::done, "{}");
}

std::string ToyNight::dump_runs(const Owner& owner) {
  std::ostringstream out;
  for (const auto& run : must(stores_.runs.runs_of(owner))) {
    out << "run " << run.slot << " " << run.build << " " << to_string(run.cell) << " "
        << to_string(run.status) << " " << run.reason << " " << run.environment_digest;
    for (const auto& [metric, value] : run.values) out << " " << to_string(metric) << value;
    for (const auto& sample : must(stores_.runs.samples_of(run.attempt))) out << " " << sample;
    out << "\n";
  }
  return out.str();
}

std::string ToyNight::dump_incident() {
  std::ostringstream out;
  const auto incident = must(stores_.incidents.get(1));
  out << "incident " << incident.key << " " << to_string(incident.state) << " "
      << incident.issue_number.value_or(0) << " " << incident.bisection.value_or(0) << " "
      << incident.targets.size() << "\n";
  for (const auto& message : must(stores_.incidents.outbox_of(1))) {
    out << "message " << message.key << " " << to_string(message.state) << " " << message.tries
        << " " << message.issue_number.value_or(0) << " " << message.digest << "\n";
  }
  return out.str();
}

std::string ToyNight::dump() {
  std::ostringstream out;
  for (const auto& build : must(stores_.builds.list())) {
    out << "build " << build.id << " " << build.name << " " << build.content_hash << "\n";
  }
  for (const auto& row : must(stores_.nights.list(10))) {
    out << "night " << row.id << " " << to_string(row.state) << " " << row.version << " "
        << row.plan_json << "\n";
    for (const auto& verdict : must(stores_.nights.verdicts_of(row.id))) {
      out << "verdict " << to_string(verdict.target) << to_string(verdict.verdict) << "\n";
    }
  }
  for (const auto& row : must(stores_.bisections.list(10))) {
    out << "search " << row.id << " " << to_string(row.state) << " " << row.answer_json << "\n";
    for (const auto& event : must(stores_.bisections.events_of(row.id))) {
      out << "event " << event.ordinal << " " << event.kind << " " << event.body_json << "\n";
    }
  }
  for (const auto& row : must(stores_.requests.list(10))) {
    out << "request " << row.delivery << " " << to_string(row.state) << row.result_json << "\n";
  }
  out << dump_runs({OwnerKind::night, 1}) << dump_runs({OwnerKind::bisection, 1})
      << dump_incident();
  out << "tracker:\n" << std::ifstream(tracker_).rdbuf();
  return out.str();
}

}  // namespace torchwatch::storage
