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
  CHECK_THAT(text_of(busy()),
             Catch::StartsWith("Look at this: 3 open incidents, 1 item waiting for something, 1 "
                               "message given up."));
  StatusFacts quiet;
  quiet.now = kNow;
  quiet.newest = quiet_comparison();
  quiet.newest->comparison.created_at = kNow;
  CHECK_THAT(text_of(quiet), Catch::StartsWith("All is well: no open incident, nothing waits."));
  quiet.now = kNow + 73 * kHour;
  CHECK_THAT(text_of(quiet), Catch::StartsWith("Look at this: the newest nightly came 3 days ago"));
}
