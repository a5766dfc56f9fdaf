#include "torchwatch/terminal/bisection_text.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "text_samples.hpp"

using namespace torchwatch;
using namespace torchwatch::terminal;
using Catch::Contains;

namespace {

std::string text_of(const bisection::BisectionResult& result, const std::string& suspect = {}) {
  std::ostringstream out;
  print(out, result, nullptr, {.good = "1f0c13af6e2b", .bad = "5d1c1c3f0a9e", .suspect = suspect},
        {});
  return out.str();
}

}  // namespace

TEST_CASE("a bisection prints the culprit, how sure it is, and what it cost") {
  const auto text = text_of(found_culprit());
  CHECK_THAT(text, Contains("Culprit (99.7 % sure):\n  5d1c1c3f0a9e\n"));
  CHECK_THAT(
      text, Contains("9 commits, 4 builds between the ends, 51 runs.\nNot measured: 3333333f0a9e"));
}

TEST_CASE("a commit that is less sure, or was not measured against its parent, is most likely it") {
  auto result = found_culprit();
  result.culprits.front().confidence = 0.93;
  CHECK_THAT(text_of(result), Contains("Most likely culprit (93 % sure):\n  5d1c1c3f0a9e\n"));
  result.culprits.front().confidence = 0.997;
  result.culprits.front().verified.clear();
  CHECK_THAT(text_of(result), Contains("Most likely culprit (99.7 % sure):"));
}

TEST_CASE("a culprit whose revert leaves the change is in doubt, and no probability stands by it") {
  auto result = found_culprit();
  result.culprits.front().revert = bisection::RevertOutcome::change_stays;
  CHECK_THAT(text_of(result), Contains("Most likely culprit:\n  5d1c1c3f0a9e\n") &&
                                  Contains("The change stays when this commit is taken out of") &&
                                  !Contains("% sure"));
  const auto cause = cause_of(result, nullptr);
  CHECK(cause.culprit == "5d1c1c3f0a9e (in doubt: its revert leaves the change)");
  CHECK(cause.confidence == 0);
  CHECK_THAT(text_of(result, "1f0c13af6e2b"),
             Contains("No: not 1f0c13af6e2b, but 5d1c1c3f0a9e most likely made the change."));
}

TEST_CASE("of several causes the largest stands for all, with the number of the others") {
  auto result = found_culprit();
  auto larger = result.culprits.front();
  larger.commits = {"aaaa", "bbbb"};
  larger.confidence = 0.98;
  result.culprits.insert(result.culprits.begin(), larger);
  CHECK(cause_of(result, nullptr).culprit == "one of 2 commits and 1 more cause");
  CHECK(cause_of(result, nullptr).confidence == 0.98);
  std::swap(result.culprits[0], result.culprits[1]);
  result.suspects = {"cccc", "dddd"};
  CHECK(cause_of(result, nullptr).culprit == "5d1c1c3f0a9e and 2 more causes");
  // A commit that is one of several culprits answers the question about it.
  std::swap(result.culprits[0], result.culprits[1]);
  CHECK_THAT(text_of(result, kSlowCommit), Contains("Yes: 5d1c1c3f0a9e changed"));
}

TEST_CASE("a search that was cancelled is not said to have done nothing") {
  bisection::BisectionResult cancelled;
  cancelled.outcome = bisection::BisectionOutcome::faulted;
  cancelled.reason = "cancelled by uid 1000";
  CHECK_THAT(text_of(cancelled), Contains("cancelled by uid 1000") && !Contains("0 runs"));
}

TEST_CASE("a confidence is never printed as certainty") {
  auto result = found_culprit();
  result.culprits.front().confidence = 1.0000000000000004;
  CHECK_THAT(text_of(result), Contains("more than 99.9 % sure") && !Contains("100"));
}

TEST_CASE("no confidence is printed where only one commit could have made the change") {
  auto result = found_culprit();
  result.culprits.front().confidence = 0;
  CHECK_THAT(text_of(result), Contains("Culprit:\n  5d1c1c3f0a9e\n") && !Contains("% sure"));
}

TEST_CASE("a suspect gets an answer to the question that was asked") {
  CHECK_THAT(text_of(found_culprit(), kSlowCommit),
             Contains("Yes: 5d1c1c3f0a9e changed soft_actor_critic cpu-train time."));
  CHECK_THAT(text_of(found_culprit(), "1f0c13af6e2b"), Contains("No: not 1f0c13af6e2b, but"));
  auto cleared = found_culprit();
  cleared.ends = cleared.culprits.front().effects;
  cleared.culprits.clear();
  cleared.outcome = bisection::BisectionOutcome::did_not_reproduce;
  cleared.reason = "the two ends do not differ";
  const auto text = text_of(cleared, kSlowCommit);
  CHECK_THAT(text, Contains("No: 5d1c1c3f0a9e did not change soft_actor_critic cpu-train time."));
  CHECK_THAT(text, !Contains("the two ends do not differ"));
}

TEST_CASE("a bisection that cannot decide lists the commits that are left") {
  auto result = found_culprit();
  result.culprits.clear();
  result.suspects = {kSlowCommit, "1f0c13af6e2b"};
  result.suspects_confidence = 0.97;
  CHECK_THAT(text_of(result), Contains("Could not decide between these (97 % sure that it is one"));
  result.ends = found_culprit().culprits.front().effects;
  CHECK_THAT(text_of(result), Contains("5d1c1c3f0a9e compared with 1f0c13af6e2b:"));
  const auto cause = cause_of(result, nullptr);
  CHECK(cause.culprit == "one of 2 commits");
  CHECK(cause.confidence == 0.97);
}

TEST_CASE("each step of a search is described in plain words") {
  const auto incident = slow_incident();
  CHECK(sentence_on(incident.trace[0]) ==
        "measured both ends again, 9a8b7c6d5e4f against 1f0c13af6e2b: soft_actor_critic cpu-train "
        "time +16.1 % (4 pairs)");
  CHECK(sentence_on(incident.trace[1]) ==
        "3333333f0a9e cannot be built: the recipe exited with 125");
  CHECK(
      sentence_on(incident.trace[2]) ==
      "measured 5d1c1c3f0a9e alone: soft_actor_critic cpu-train time +17.0 % (1 run); 99.7 % sure "
      "that the cause lies after 1f0c13af6e2b and up to 5d1c1c3f0a9e");
  using bisection::EventKind;
  for (const auto& kind : Words<EventKind>::kAll) {
    CHECK_THAT(sentence_on(step(kind.value, std::nullopt, kSlowCommit)),
               !Contains("_") && Contains(" "));
  }
  for (const auto& purpose : Words<bisect::Purpose>::kAll) {
    CHECK_THAT(sentence_on(step(EventKind::measured, purpose.value, kSlowCommit)),
               !Contains("_") && Contains(" "));
  }
}
