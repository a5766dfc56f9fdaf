#include "torchwatch/terminal/status_text.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "golden.hpp"
#include "text_samples.hpp"

using namespace torchwatch;
using namespace torchwatch::terminal;
using Catch::Contains;

namespace {

constexpr storage::WallMillis kHour = 3'600'000;

std::string text_of(const StatusFacts& facts, int columns = 120) {
  std::ostringstream out;
  print(out, facts, {.columns = columns});
  return out.str();
}

StatusFacts busy() {
  StatusFacts facts;
  facts.now = kNow + 5 * kHour;
  facts.service.daemon = 4711;
  facts.service.report.doing = {
      .what = "preparing the runner of 2026-08-18", .comparison = 14, .since = facts.now - 40'000};
  facts.service.report.problems = {
      {.source = "disk",
       .item = "",
       .since = kNow,
       .sentence = "the disk is nearly full, so no work is begun",
       .detail = "the disk of /srv/builds has 61 MiB free, less than [build] disk_reserve (200 "
                 "MiB): free some space"},
      {.source = "comparison", .item = "13", .since = kNow, .sentence = "put off"}};
  facts.queue = {.comparisons = 1, .requests = 7};
  storage::BuildRow rejected;
  rejected.name = "2026-08-15";
  rejected.state = storage::BuildState::rejected;
  rejected.reason = "libtorch_cpu.so is not a library (no ELF header)";
  facts.left_out = {rejected};
  facts.newest = eventful_comparison();
  facts.newest->comparison.created_at = kNow;
  facts.open = facts.newest->incidents;
  storage::BisectionRow search;
  search.id = 4;
  search.incident = 2;
  search.good = "1f0c13af6e2b9d8c";
  search.bad = "9a8b7c6d5e4f3a2b";
  search.created_at = kNow + 4 * kHour;
  facts.searches = {search};
  facts.waiting = {{.key = {storage::ItemKind::comparison, "13"},
                    .tries = 1,
                    .since = kNow,
                    .not_before = kNow + kHour,
                    .error = "no space left on device"}};
  storage::OutboxRow message;
  message.state = storage::OutboxState::dead;
  message.last_error = "422: too long";
  facts.unsent = {message};
  facts.newest_issue = 12;
  facts.last_delivery = kNow + 3 * kHour;
  facts.culprits = {.named = 12, .disputed = 1};
  facts.recent = {{facts.newest->comparison, "2026-08-17", "2026-08-16", "regressed", 3}};
  facts.self_tests = {{.metric = Metric::time, .series = 400, .regressed = 1},
                      {.metric = Metric::cpu_peak, .series = 400}};
  return facts;
}

}  // namespace

TEST_CASE("the status reads as accepted") {
  require_golden("status_80.txt", text_of(busy(), 80));
}

TEST_CASE("the status begins with what is wrong, or that nothing is") {
  CHECK_THAT(
      text_of(busy(), 200),
      Catch::StartsWith("Look at this: 1 problem of the service, 3 open incidents, 1 item put "
                        "off, 1 message given up, 1 nightly left out.\nThe daemon, "
                        "process "
                        "4711, is at work: "));
  StatusFacts quiet;
  quiet.now = kNow;
  quiet.newest = quiet_comparison();
  quiet.newest->comparison.created_at = kNow;
  CHECK_THAT(text_of(quiet), Catch::StartsWith("All is well: no open incident, nothing waits."));
  quiet.service.daemon = 4711;
  quiet.queue = {.comparisons = 2, .requests = 1};
  CHECK_THAT(text_of(quiet), Catch::StartsWith("All is well: no open incident, 2 comparisons and 1 "
                                               "request wait for their turn.\nThe daemon, process "
                                               "4711, waits for work.\n"));
  quiet.queue = {.requests = 1};
  CHECK_THAT(text_of(quiet), Catch::Contains("1 request waits for its turn.\n"));
  quiet.queue = {};
  quiet.now = kNow + 73 * kHour;
  CHECK_THAT(text_of(quiet), Catch::StartsWith("Look at this: the newest nightly came 3 days ago"));
}

TEST_CASE("the status says that no daemon runs, since when, and what waits for one") {
  StatusFacts facts;
  facts.now = kNow;
  CHECK_THAT(text_of(facts),
             Catch::StartsWith("All is well: no open incident, nothing waits.\nNo daemon runs.\n"));
  CHECK_FALSE(is_impaired(facts));
  facts.queue = {.comparisons = 1};
  facts.service.last = storage::DaemonTimes{.started_at = kNow, .stopped_at = kNow + kHour};
  CHECK_THAT(text_of(facts, 200),
             Catch::StartsWith("Look at this: 1 comparison waits and no daemon runs.\nNo daemon "
                               "runs; the last one stopped 2026-08-17 04:04 UTC. `torchwatch "
                               "serve` takes up what waits.\n"));
  CHECK(is_impaired(facts));
  facts.service.last->stopped_at = {};
  CHECK_THAT(text_of(facts, 200),
             Contains("began 2026-08-17 03:04 UTC and was ended from outside"));
  facts.service.writer = "4711 (torchwatch nightly)";
  CHECK_THAT(text_of(facts, 200),
             Contains("No daemon runs; process 4711 (torchwatch nightly) is at work."));
  CHECK_FALSE(is_impaired(facts));
}

TEST_CASE("the status in brief is one line that stays the same while nothing happens") {
  auto facts = busy();
  const auto line = brief(facts);
  CHECK_THAT(line, Catch::StartsWith("Look at this: 1 problem of the service, ") &&
                       Contains(" The daemon, process 4711, is at work: preparing the runner of "
                                "2026-08-18 (comparison 14)."));
  CHECK(line.find('\n') == std::string::npos);
  facts.now += 10'000;
  CHECK(brief(facts) == line);
}

TEST_CASE("a search that nobody carries on waits for a daemon") {
  StatusFacts facts;
  facts.now = kNow;
  storage::BisectionRow search;
  search.id = 1;
  search.created_at = kNow;
  facts.searches = {search};
  CHECK_THAT(text_of(facts, 200),
             Catch::StartsWith("Look at this: 1 bisection waits and no daemon runs.\n"));
  CHECK_THAT(text_of(facts, 200), Contains("Searches that wait (1)\n"));
  CHECK(is_impaired(facts));
  facts.queue = {.comparisons = 1, .requests = 2};
  CHECK_THAT(text_of(facts, 200),
             Catch::StartsWith("Look at this: 1 comparison, 2 requests and 1 bisection wait and no "
                               "daemon runs.\n"));
  facts.queue = {};
  facts.service.daemon = 4711;
  CHECK_THAT(text_of(facts, 200), Catch::StartsWith("All is well: no open incident, nothing "));
  facts.service.daemon = {};
  facts.waiting = {{.key = {storage::ItemKind::bisection, "1"}, .since = kNow}};
  CHECK_THAT(text_of(facts, 200), Catch::StartsWith("Look at this: 1 item put off.\n"));
}

TEST_CASE("the status lists what the service has in the queue of the cluster") {
  StatusFacts facts;
  facts.now = kNow;
  CHECK(text_of(facts).find("Cluster") == std::string::npos);
  facts.cluster.emplace();
  CHECK_THAT(text_of(facts), Contains("Cluster\n  no node is held\n"));
  facts.cluster->jobs = {{.what = "lane 0", .id = "7", .state = "RUNNING", .node = "n1"},
                         {.what = "lane 1", .id = "8", .state = "PENDING", .reason = "Resources"}};
  CHECK_THAT(text_of(facts), Contains("  lane 0: job 7 RUNNING, on n1\n"
                                      "  lane 1: job 8 PENDING, waits: Resources\n"));
  facts.cluster = ClusterNow{.problem = "squeue: no answer"};
  CHECK_THAT(text_of(facts), Contains("  unknown: squeue: no answer\n"));
}

TEST_CASE("a daemon that cannot be asked is not a daemon that does not run") {
  StatusFacts facts;
  facts.now = kNow;
  facts.service.not_asked = "control: Permission denied";
  facts.queue = {.comparisons = 1};
  CHECK_THAT(text_of(facts, 200),
             Contains("The daemon cannot be asked what it does: control: Permission denied."));
  CHECK_FALSE(is_impaired(facts));
}

TEST_CASE("a nightly without a verdict is shown with what is done on it, and the last verdict") {
  StatusFacts facts;
  facts.now = kNow;
  facts.newest = quiet_comparison();
  facts.newest->verdicts = {};
  facts.newest->comparison.state = storage::ComparisonState::discovered;
  facts.newest->stage = "preparing";
  facts.judged = quiet_comparison();
  const auto text = text_of(facts, 200);
  CHECK_THAT(text, Contains("2026-08-17 against 2026-08-16: no verdict yet, preparing."));
  CHECK_THAT(text, Contains("Newest with a verdict"));
  CHECK_THAT(text, !Contains("discovered"));
}
