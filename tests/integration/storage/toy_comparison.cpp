#include "toy_comparison.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "torchwatch/records/unique_fd.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::storage {
namespace {

constexpr WallMillis kNow = 1'000;
constexpr int kEvents = 3;
constexpr const char* kIncidentKey = "incident";

RunResult toy_result(const std::string& token, const std::string& slot) {
  auto result = full_result(token);
  result.samples_ns.assign(30, static_cast<std::int64_t>(slot.size()) * 1000);
  return result;
}

Result<bool> builds_are_ready(const ToyState& toy) {
  TW_TRY(const auto builds, toy.stores.builds.list());
  return builds.size() == 2 && builds[1].state == BuildState::ready;
}

Status make_builds_ready(const ToyState& toy) {
  for (const std::string name : {"n1", "n2"}) {
    TW_TRY(auto row, toy.stores.builds.discover(BuildOrigin::nightly, name));
    row.content_hash = "hash of " + name;
    row.folder = "/builds/" + name;
    TW_TRY_VOID(toy.stores.builds.mark_ready(row));
  }
  return {};
}

Result<ComparisonRow> comparison(const ToyState& toy) {
  return toy.stores.comparisons.open({Purpose::nightly, 2, 1}, kNow);
}

Result<bool> comparison_is_past(const ToyState& toy, ComparisonState state) {
  TW_TRY(const auto comparisons, toy.stores.comparisons.list(1));
  return !comparisons.empty() && comparisons[0].state >= state;
}

Status plan_comparison(const ToyState& toy) {
  TW_TRY(auto row, comparison(toy));
  if (row.plan_json.empty()) {
    TW_TRY(row, toy.stores.comparisons.set_plan(row, "{\"slots\":4}"));
  }
  TW_TRY_VOID(toy.stores.comparisons.advance(row, ComparisonState::ready, kNow));
  return {};
}

Result<bool> run_is_over(const ToyState& toy, const Owner& owner, const std::string& slot) {
  TW_TRY(const auto runs, toy.stores.runs.runs_of(owner));
  for (const auto& run : runs) {
    if (run.slot == slot) return true;
  }
  return false;
}

/// The tokens of attempts that were abandoned stay taken.
Result<std::string> issue(const ToyState& toy, const Owner& owner, const std::string& slot) {
  constexpr int kTokensMax = 20;
  for (int number = 0;; ++number) {
    auto token = std::string(owner.kind == OwnerKind::comparison ? "n " : "s ") + slot + " " +
                 std::to_string(number);
    const auto attempt =
        toy.stores.runs.issue({owner, slot, 2, kBenchmark, Pass::timing}, token, kNow);
    if (attempt) return token;
    if (attempt.error().code != ErrorCode::conflict || number == kTokensMax) {
      return fail(attempt.error());
    }
  }
}

Status run_slot(const ToyState& toy, const Owner& owner, const std::string& slot) {
  TW_TRY(const auto token, issue(toy, owner, slot));
  if (slot == "crash") {
    return toy.stores.runs.record({{token, AttemptFailure{"killed by signal 11", "oh"}}}, kNow);
  }
  return toy.stores.runs.record({{token, toy_result(token, slot)}}, kNow);
}

Status end_measuring(const ToyState& toy) {
  TW_TRY(const auto row, comparison(toy));
  TW_TRY_VOID(toy.stores.comparisons.advance(row, ComparisonState::measured, kNow));
  return {};
}

Status judge(const ToyState& toy) {
  return toy.stores.database->transact([&]() -> Status {
    TW_TRY(const auto row, comparison(toy));
    VerdictRow verdict;
    verdict.comparison = row.id;
    verdict.series = kTime;
    verdict.verdict = Verdict::regressed;
    TW_TRY_VOID(toy.stores.comparisons.add_verdict(verdict));
    TW_TRY_VOID(toy.stores.incidents.open(incident_of(row, kIncidentKey)));
    TW_TRY_VOID(toy.stores.comparisons.advance(row, ComparisonState::judged, kNow));
    return {};
  });
}

Result<bool> search_is_open(const ToyState& toy) {
  TW_TRY(const auto searches, toy.stores.bisections.list(1));
  return !searches.empty();
}

Status open_bisection(const ToyState& toy) {
  return toy.stores.database->transact([&]() -> Status {
    BisectionRow row;
    row.incident = 1;
    row.good = "a";
    row.bad = "z";
    TW_TRY(row, toy.stores.bisections.open(row));
    return toy.stores.incidents.attach_bisection(1, row.id);
  });
}

Result<bool> search_has_ended(const ToyState& toy) {
  TW_TRY(const auto events, toy.stores.bisections.events_of(1));
  return events.size() == kEvents;
}

Status search_on(const ToyState& toy) {
  TW_TRY(const auto events, toy.stores.bisections.events_of(1));
  for (int next = static_cast<int>(events.size()); next < kEvents; ++next) {
    TW_TRY_VOID(toy.stores.bisections.append(1, {next, "probed", std::to_string(next)}));
  }
  return {};
}

Status end_search(const ToyState& toy) {
  return toy.stores.database->transact([&]() -> Status {
    TW_TRY(const auto search, toy.stores.bisections.get(1));
    TW_TRY_VOID(toy.stores.bisections.end(search, "{\"culprit\":\"m\"}", kNow));
    TW_TRY(const auto row, comparison(toy));
    TW_TRY_VOID(toy.stores.comparisons.advance(row, ComparisonState::bisected, kNow));
    return {};
  });
}

Status queue_issue(const ToyState& toy) {
  return toy.stores.database->transact([&]() -> Status {
    TW_TRY(const auto incident, toy.stores.incidents.get(1));
    TW_TRY_VOID(toy.stores.outbox.queue(message_of(incident, "opening", OutboxKind::open)));
    TW_TRY_VOID(toy.stores.outbox.queue(message_of(incident, "comment", OutboxKind::comment)));
    TW_TRY(const auto row, comparison(toy));
    TW_TRY_VOID(toy.stores.comparisons.advance(row, ComparisonState::reported, kNow));
    return {};
  });
}

Result<bool> outbox_is_empty(const ToyState& toy) {
  TW_TRY(const auto due, toy.stores.outbox.next_due(kNow));
  return !due;
}

Status send(const ToyState& toy, const OutboxRow& message) {
  if (message.state == OutboxState::pending)
    TW_TRY_VOID(toy.stores.outbox.mark_sending(message.key));
  auto number = toy.tracker.look_up(message.key);
  if (!number) {
    TW_TRY(number, toy.tracker.post(message.key));
  }
  return toy.stores.outbox.mark_sent(message.key, *number, 1000);
}

Status send_messages(const ToyState& toy) {
  while (true) {
    TW_TRY(const auto due, toy.stores.outbox.next_due(kNow));
    if (!due) return {};
    TW_TRY_VOID(send(toy, *due));
  }
}

Result<bool> incident_is_closed(const ToyState& toy) {
  TW_TRY(const auto incident, toy.stores.incidents.get(1));
  return incident.state == IncidentState::closed;
}

Status close_incident(const ToyState& toy) {
  return toy.stores.incidents.close(1, {"ada", "", kNow});
}

Result<bool> request_is_answered(const ToyState& toy) {
  const auto request = toy.stores.requests.get(1);
  if (request) return request->state == RequestState::done;
  if (request.error().code == ErrorCode::not_found) return false;
  return fail(request.error());
}

Status answer_request(const ToyState& toy) {
  TW_TRY_VOID(toy.stores.requests.receive("delivery", RequestKind::nightly, "{}", kNow));
  TW_TRY(const auto request, toy.stores.requests.claim(1));
  return toy.stores.requests.answer(request.id, RequestState::done, "{}");
}

/// A step is done when the stored state says so.
struct Step {
  std::function<Result<bool>(const ToyState&)> is_done;
  std::function<Status(const ToyState&)> perform;
};

const std::vector<Step>& plan() {
  static const Owner kComparison{OwnerKind::comparison, 1};
  static const Owner kSearch{OwnerKind::bisection, 1};
  const auto past = [](ComparisonState state) {
    return [state](const ToyState& toy) { return comparison_is_past(toy, state); };
  };
  const auto run = [](const Owner& owner, const std::string& slot) {
    return Step{[&owner, slot](const ToyState& toy) { return run_is_over(toy, owner, slot); },
                [&owner, slot](const ToyState& toy) { return run_slot(toy, owner, slot); }};
  };
  static const std::vector<Step> kSteps{
      {builds_are_ready, make_builds_ready},
      {past(ComparisonState::ready), plan_comparison},
      run(kComparison, "A1"),
      run(kComparison, "B1"),
      run(kComparison, "crash"),
      run(kComparison, "A2"),
      {past(ComparisonState::measured), end_measuring},
      {past(ComparisonState::judged), judge},
      {search_is_open, open_bisection},
      run(kSearch, "probe 1"),
      {search_has_ended, search_on},
      {past(ComparisonState::bisected), end_search},
      {past(ComparisonState::reported), queue_issue},
      {outbox_is_empty, send_messages},
      {incident_is_closed, close_incident},
      {request_is_answered, answer_request},
  };
  return kSteps;
}

/// By value: a loop over `result.value()` would run over a temporary that is gone.
template <typename T>
T must(Result<T> result) {
  return std::move(result).value();
}

std::string dump_runs(const ToyState& toy, const Owner& owner) {
  std::ostringstream out;
  for (const auto& run : must(toy.stores.runs.runs_of(owner))) {
    out << "run " << run.slot << " " << run.build << " " << to_string(run.benchmark) << " "
        << to_string(run.status) << " " << run.reason << " " << run.environment_digest;
    for (const auto& [metric, value] : run.values) out << " " << to_string(metric) << value;
    for (const auto& sample : must(toy.stores.runs.samples_of(run.attempt))) out << " " << sample;
    out << "\n";
  }
  return out.str();
}

std::string dump_incident(const ToyState& toy) {
  std::ostringstream out;
  const auto incident = must(toy.stores.incidents.get(1));
  out << "incident " << incident.key << " " << to_string(incident.state) << " "
      << incident.issue_number.value_or(0) << " " << incident.bisection.value_or(0) << " "
      << incident.series.size() << "\n";
  for (const auto& message : must(toy.stores.outbox.of_incident(1))) {
    out << "message " << message.key << " " << to_string(message.state) << " " << message.tries
        << " " << message.issue_number.value_or(0) << " " << message.digest << "\n";
  }
  return out.str();
}

std::string dump_all(const ToyState& toy) {
  std::ostringstream out;
  for (const auto& build : must(toy.stores.builds.list())) {
    out << "build " << build.id << " " << build.name << " " << build.content_hash << "\n";
  }
  for (const auto& row : must(toy.stores.comparisons.list(10))) {
    out << "comparison " << row.id << " " << to_string(row.state) << " " << row.version << " "
        << row.plan_json << "\n";
    for (const auto& verdict : must(verdicts_of(*toy.stores.database, row.id))) {
      out << "verdict " << to_string(verdict.series) << to_string(verdict.verdict) << "\n";
    }
  }
  for (const auto& row : must(toy.stores.bisections.list(10))) {
    out << "bisection " << row.id << " " << to_string(row.state) << " " << row.result_json << "\n";
    for (const auto& event : must(toy.stores.bisections.events_of(row.id))) {
      out << "event " << event.ordinal << " " << event.kind << " " << event.body_json << "\n";
    }
  }
  const auto request = must(toy.stores.requests.get(1));
  out << "request " << request.delivery << " " << to_string(request.state) << request.result_json
      << "\n";
  out << dump_runs(toy, {OwnerKind::comparison, 1}) << dump_runs(toy, {OwnerKind::bisection, 1})
      << dump_incident(toy);
  out << "tracker:\n" << toy.tracker.text();
  return out.str();
}

}  // namespace

std::optional<std::int64_t> ToyTracker::look_up(const std::string& key) const {
  std::ifstream file(file_);
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (line == key) return number;
  }
  return std::nullopt;
}

Result<std::int64_t> ToyTracker::post(const std::string& key) const {
  const UniqueFd file(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const auto line = key + "\n";
  if (!file.is_open() || ::write(file.get(), line.data(), line.size()) < 0) {
    return fail(ErrorCode::internal, "the toy tracker does not work");
  }
  return look_up(key).value_or(0);
}

std::string ToyTracker::text() const {
  std::ostringstream out;
  out << std::ifstream(file_).rdbuf();
  return out.str();
}

int ToyComparison::steps() {
  return static_cast<int>(plan().size());
}

Result<int> ToyComparison::steps_done() const {
  int done = 0;
  for (const auto& step : plan()) {
    TW_TRY(const bool is_done, step.is_done(state_));
    if (!is_done) break;
    ++done;
  }
  return done;
}

Status ToyComparison::play(const std::function<void(int)>& acknowledge) {
  TW_TRY_VOID(state_.stores.runs.abandon_leftovers(kNow));
  TW_TRY_VOID(state_.stores.requests.reopen(1));
  TW_TRY(int done, steps_done());
  for (; done < steps(); ++done) {
    TW_TRY_VOID(plan()[static_cast<std::size_t>(done)].perform(state_));
    acknowledge(done + 1);
  }
  return {};
}

std::string ToyComparison::dump() const {
  return dump_all(state_);
}

}  // namespace torchwatch::storage
