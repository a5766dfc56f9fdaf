#include "toy_comparison.hpp"

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

struct ToyComparison::Step {
  std::function<Result<bool>(ToyComparison&)> is_done;
  std::function<Status(ToyComparison&)> perform;
};

const std::vector<ToyComparison::Step>& ToyComparison::plan() {
  static const Owner kComparison{OwnerKind::comparison, 1};
  static const Owner kSearch{OwnerKind::bisection, 1};
  const auto past = [](ComparisonState state) {
    return [state](ToyComparison& toy) { return toy.comparison_is_past(state); };
  };
  const auto run = [](const Owner& owner, const std::string& slot) {
    return Step{[&owner, slot](ToyComparison& toy) { return toy.run_is_over(owner, slot); },
                [&owner, slot](ToyComparison& toy) { return toy.run(owner, slot); }};
  };
  static const std::vector<Step> steps{
      {&ToyComparison::builds_are_ready, &ToyComparison::make_builds_ready},
      {past(ComparisonState::ready), &ToyComparison::plan_comparison},
      run(kComparison, "A1"),
      run(kComparison, "B1"),
      run(kComparison, "crash"),
      run(kComparison, "A2"),
      {past(ComparisonState::measured), &ToyComparison::end_measuring},
      {past(ComparisonState::judged), &ToyComparison::judge},
      {&ToyComparison::search_is_open, &ToyComparison::open_bisection},
      run(kSearch, "probe 1"),
      {&ToyComparison::search_has_ended, &ToyComparison::search_on},
      {past(ComparisonState::bisected), &ToyComparison::end_search},
      {past(ComparisonState::reported), &ToyComparison::queue_issue},
      {&ToyComparison::outbox_is_empty, &ToyComparison::send_messages},
      {&ToyComparison::incident_is_closed, &ToyComparison::close_incident},
      {&ToyComparison::request_is_answered, &ToyComparison::answer_request},
  };
  return steps;
}

int ToyComparison::steps() {
  return static_cast<int>(plan().size());
}

Result<int> ToyComparison::steps_done() {
  int done = 0;
  for (const auto& step : plan()) {
    TW_TRY(const bool is_done, step.is_done(*this));
    if (!is_done) break;
    ++done;
  }
  return done;
}

Status ToyComparison::play(const std::function<void(int)>& acknowledge) {
  TW_TRY_VOID(stores_.runs.abandon_leftovers(kNow));
  TW_TRY_VOID(stores_.requests.reopen(1));
  TW_TRY(int done, steps_done());
  for (; done < steps(); ++done) {
    TW_TRY_VOID(plan()[static_cast<std::size_t>(done)].perform(*this));
    acknowledge(done + 1);
  }
  return {};
}

Result<bool> ToyComparison::builds_are_ready() {
  TW_TRY(const auto builds, stores_.builds.list());
  return builds.size() == 2 && builds[1].state == BuildState::ready;
}

Status ToyComparison::make_builds_ready() {
  for (const std::string name : {"n1", "n2"}) {
    TW_TRY(auto row, stores_.builds.discover(BuildOrigin::nightly, name));
    row.content_hash = "hash of " + name;
    row.folder = "/builds/" + name;
    TW_TRY_VOID(stores_.builds.mark_ready(row));
  }
  return {};
}

Result<ComparisonRow> ToyComparison::comparison() {
  return stores_.comparisons.open({Purpose::nightly, 2, 1}, kNow);
}

Result<bool> ToyComparison::comparison_is_past(ComparisonState state) {
  TW_TRY(const auto comparisons, stores_.comparisons.list(1));
  return !comparisons.empty() && comparisons[0].state >= state;
}

Status ToyComparison::plan_comparison() {
  TW_TRY(auto row, comparison());
  if (row.plan_json.empty()) {
    TW_TRY(row, stores_.comparisons.set_plan(row, "{\"slots\":4}"));
  }
  TW_TRY_VOID(stores_.comparisons.advance(row, ComparisonState::ready, kNow));
  return {};
}

Result<bool> ToyComparison::run_is_over(const Owner& owner, const std::string& slot) {
  TW_TRY(const auto runs, stores_.runs.runs_of(owner));
  for (const auto& run : runs) {
    if (run.slot == slot) return true;
  }
  return false;
}

/// The tokens of attempts that were abandoned stay taken.
Result<std::string> ToyComparison::issue(const Owner& owner, const std::string& slot) {
  constexpr int kTokensMax = 20;
  for (int number = 0;; ++number) {
    const auto token = std::string(owner.kind == OwnerKind::comparison ? "n " : "s ") + slot + " " +
                       std::to_string(number);
    const auto attempt =
        stores_.runs.issue({owner, slot, 2, kBenchmark, Pass::timing}, token, kNow);
    if (attempt) return token;
    if (attempt.error().code != ErrorCode::conflict || number == kTokensMax) {
      return fail(attempt.error());
    }
  }
}

Status ToyComparison::run(const Owner& owner, const std::string& slot) {
  TW_TRY(const auto token, issue(owner, slot));
  if (slot == "crash") {
    return stores_.runs.record({{token, AttemptFailure{"killed by signal 11", "oh"}}}, kNow);
  }
  return stores_.runs.record({{token, toy_result(token, slot)}}, kNow);
}

Status ToyComparison::end_measuring() {
  TW_TRY(const auto row, comparison());
  TW_TRY_VOID(stores_.comparisons.advance(row, ComparisonState::measured, kNow));
  return {};
}

Status ToyComparison::judge() {
  return stores_.database->transact([&]() -> Status {
    TW_TRY(const auto row, comparison());
    VerdictRow verdict;
    verdict.comparison = row.id;
    verdict.series = kTime;
    verdict.verdict = Verdict::regressed;
    TW_TRY_VOID(stores_.comparisons.add_verdict(verdict));
    TW_TRY_VOID(stores_.incidents.open(incident_of(row, kIncidentKey)));
    TW_TRY_VOID(stores_.comparisons.advance(row, ComparisonState::judged, kNow));
    return {};
  });
}

Result<bool> ToyComparison::search_is_open() {
  TW_TRY(const auto searches, stores_.bisections.list(1));
  return !searches.empty();
}

Status ToyComparison::open_bisection() {
  return stores_.database->transact([&]() -> Status {
    BisectionRow row;
    row.incident = 1;
    row.good = "a";
    row.bad = "z";
    TW_TRY(row, stores_.bisections.open(row));
    return stores_.incidents.attach_bisection(1, row.id);
  });
}

Result<bool> ToyComparison::search_has_ended() {
  TW_TRY(const auto events, stores_.bisections.events_of(1));
  return events.size() == kEvents;
}

Status ToyComparison::search_on() {
  TW_TRY(const auto events, stores_.bisections.events_of(1));
  for (int next = static_cast<int>(events.size()); next < kEvents; ++next) {
    TW_TRY_VOID(stores_.bisections.append(1, {next, "probed", std::to_string(next)}));
  }
  return {};
}

Status ToyComparison::end_search() {
  return stores_.database->transact([&]() -> Status {
    TW_TRY(const auto search, stores_.bisections.get(1));
    TW_TRY_VOID(stores_.bisections.end(search, "{\"culprit\":\"m\"}", kNow));
    TW_TRY(const auto row, comparison());
    TW_TRY_VOID(stores_.comparisons.advance(row, ComparisonState::bisected, kNow));
    return {};
  });
}

Status ToyComparison::queue_issue() {
  return stores_.database->transact([&]() -> Status {
    TW_TRY(const auto incident, stores_.incidents.get(1));
    TW_TRY_VOID(stores_.outbox.queue(message_of(incident, "opening", OutboxKind::open)));
    TW_TRY_VOID(stores_.outbox.queue(message_of(incident, "comment", OutboxKind::comment)));
    TW_TRY(const auto row, comparison());
    TW_TRY_VOID(stores_.comparisons.advance(row, ComparisonState::reported, kNow));
    return {};
  });
}

Result<bool> ToyComparison::outbox_is_empty() {
  TW_TRY(const auto due, stores_.outbox.next_due(kNow));
  return !due;
}

Status ToyComparison::send_messages() {
  while (true) {
    TW_TRY(const auto due, stores_.outbox.next_due(kNow));
    if (!due) return {};
    TW_TRY_VOID(send(*due));
  }
}

Status ToyComparison::send(const OutboxRow& message) {
  if (message.state == OutboxState::pending) TW_TRY_VOID(stores_.outbox.mark_sending(message.key));
  auto number = look_up(tracker_, message.key);
  if (!number) {
    TW_TRY(number, post(tracker_, message.key));
  }
  return stores_.outbox.mark_sent(message.key, *number, 1000);
}

Result<bool> ToyComparison::incident_is_closed() {
  TW_TRY(const auto incident, stores_.incidents.get(1));
  return incident.state == IncidentState::closed;
}

Status ToyComparison::close_incident() {
  return stores_.incidents.close(1, {"ada", "", kNow});
}

Result<bool> ToyComparison::request_is_answered() {
  const auto request = stores_.requests.get(1);
  if (request) return request->state == RequestState::done;
  if (request.error().code == ErrorCode::not_found) return false;
  return fail(request.error());
}

Status ToyComparison::answer_request() {
  TW_TRY_VOID(stores_.requests.receive("delivery", RequestKind::nightly, "{}", kNow));
  TW_TRY(const auto request, stores_.requests.claim(1));
  return stores_.requests.answer(request.id, RequestState::done, "{}");
}

std::string ToyComparison::dump_runs(const Owner& owner) {
  std::ostringstream out;
  for (const auto& run : must(stores_.runs.runs_of(owner))) {
    out << "run " << run.slot << " " << run.build << " " << to_string(run.benchmark) << " "
        << to_string(run.status) << " " << run.reason << " " << run.environment_digest;
    for (const auto& [metric, value] : run.values) out << " " << to_string(metric) << value;
    for (const auto& sample : must(stores_.runs.samples_of(run.attempt))) out << " " << sample;
    out << "\n";
  }
  return out.str();
}

std::string ToyComparison::dump_incident() {
  std::ostringstream out;
  const auto incident = must(stores_.incidents.get(1));
  out << "incident " << incident.key << " " << to_string(incident.state) << " "
      << incident.issue_number.value_or(0) << " " << incident.bisection.value_or(0) << " "
      << incident.series.size() << "\n";
  for (const auto& message : must(stores_.outbox.of_incident(1))) {
    out << "message " << message.key << " " << to_string(message.state) << " " << message.tries
        << " " << message.issue_number.value_or(0) << " " << message.digest << "\n";
  }
  return out.str();
}

std::string ToyComparison::dump() {
  std::ostringstream out;
  for (const auto& build : must(stores_.builds.list())) {
    out << "build " << build.id << " " << build.name << " " << build.content_hash << "\n";
  }
  for (const auto& row : must(stores_.comparisons.list(10))) {
    out << "comparison " << row.id << " " << to_string(row.state) << " " << row.version << " "
        << row.plan_json << "\n";
    for (const auto& verdict : must(stores_.comparisons.verdicts_of(row.id))) {
      out << "verdict " << to_string(verdict.series) << to_string(verdict.verdict) << "\n";
    }
  }
  for (const auto& row : must(stores_.bisections.list(10))) {
    out << "bisection " << row.id << " " << to_string(row.state) << " " << row.result_json << "\n";
    for (const auto& event : must(stores_.bisections.events_of(row.id))) {
      out << "event " << event.ordinal << " " << event.kind << " " << event.body_json << "\n";
    }
  }
  const auto request = must(stores_.requests.get(1));
  out << "request " << request.delivery << " " << to_string(request.state) << request.result_json
      << "\n";
  out << dump_runs({OwnerKind::comparison, 1}) << dump_runs({OwnerKind::bisection, 1})
      << dump_incident();
  out << "tracker:\n" << std::ifstream(tracker_).rdbuf();
  return out.str();
}

}  // namespace torchwatch::storage
