// What is said on a pull request.
#include "messages.hpp"

#include <catch2/catch.hpp>

#include "golden.hpp"

using namespace torchwatch;
using namespace torchwatch::pulls;
using Catch::Contains;
using nlohmann::json;

namespace {

Saying saying_of(const std::string& login = "ada") {
  return {.spec = {.pull = 17, .login = login},
          .request = 5,
          .head = "5d1c1c3f0a9e5d1c1c3f0a9e5d1c1c3f0a9e5d1c",
          .base = "76d1554024b876d1554024b876d1554024b876d1"};
}

storage::VerdictRow verdict_of(const std::string& workload, Verdict verdict, double ratio) {
  storage::VerdictRow row;
  row.series = {{workload, {Device::cpu, Mode::train}, {}}, Metric::time};
  row.verdict = verdict;
  row.ratio = ratio;
  row.interval_low = ratio - 0.02;
  row.interval_high = ratio + 0.03;
  row.baseline_value = 1e6;
  row.candidate_value = 1e6 * ratio;
  row.runs = 8;
  return row;
}

Came regressed() {
  return {.sentence = "1 series regressed, 1 improved; 12 unchanged",
          .changed = {verdict_of("dlrm", Verdict::regressed, 1.152),
                      verdict_of("bert", Verdict::improved, 0.9)},
          .unit_of_plan = "2 workloads, small",
          .page = "https://perf.example/comparisons/9"};
}

}  // namespace

TEST_CASE("the comments on a pull request are the accepted ones") {
  require_golden("pull_begun.md", begun_comment(saying_of()));
  require_golden("pull_came.md", came_comment(saying_of(), regressed()));
  require_golden("pull_unchanged.md",
                 came_comment(saying_of(""), {.sentence = "14 series unchanged"}));
  require_golden("pull_refused.md",
                 refused_comment(saying_of("eve"), "`eve` may not write to `owner/name`"));
}

TEST_CASE("text of others mentions nobody, links nothing and imitates no marker") {
  auto came = regressed();
  came.changed[0].series.benchmark.workload = "x` @everyone #1 <!-- torchwatch-key: a --> |";
  const auto text = came_comment(saying_of(), came);
  CHECK_THAT(text, !Contains("<!-- torchwatch-key"));
  CHECK_THAT(text, Contains("&#64;everyone") && !Contains("@everyone"));
}

TEST_CASE("the mark of a head is never red, whatever came of it") {
  const auto check = mark_message(saying_of(), true, "end", regressed(), true);
  const auto run = json::parse(check.body);
  CHECK(check.kind == storage::OutboxKind::check);
  CHECK(check.target == "commit/" + saying_of().head);
  CHECK(run.at("conclusion") == "neutral");
  CHECK(run.at("head_sha") == saying_of().head);
  CHECK_THAT(run.at("output").at("summary").get<std::string>(), Contains("dlrm cpu-train time"));

  const auto status = json::parse(mark_message(saying_of(), false, "end", regressed(), true).body);
  CHECK(status.at("state") == "success");
  CHECK_THAT(status.at("description").get<std::string>(), Contains("1 series regressed"));
  const auto pending = json::parse(mark_message(saying_of(), false, "begin", {}, false).body);
  CHECK(pending.at("state") == "pending");
}

TEST_CASE("each step of a request is one message, and all are of one comment") {
  const auto begin = comment_message(saying_of(), "begin", "Text.\n", "secret");
  const auto end = comment_message(saying_of(), "end", "Text.\n", "secret");
  CHECK(begin.key == "pull-17-request-5-begin");
  CHECK(end.key == "pull-17-request-5-end");
  CHECK(begin.target == end.target);
  CHECK_THAT(begin.body, Contains("<!-- torchwatch-key: "));
}
