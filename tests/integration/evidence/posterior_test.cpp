#include <catch2/catch.hpp>
#include <cmath>

#include "temporary_folder.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/bisection.hpp"

using namespace torchwatch;
using bisection::EventKind;
using drawing::CommitState;

namespace {

const Series kTime{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};

/// An empty database, which is not read here.
struct Somewhere {
  test::TemporaryFolder folder;
  std::unique_ptr<storage::Database> database =
      storage::Database::open({folder.path() / "torchwatch.sqlite", "", false}).value();
  evidence::Context context{.database = *database};
};

storage::BisectionRow search() {
  storage::BisectionRow row;
  row.id = 7;
  row.good = "g00d";
  row.bad = "bad5";
  return row;
}

report::TraceStep built(std::size_t place, std::string commit) {
  report::TraceStep step;
  step.kind = EventKind::built;
  step.place = place;
  step.commit = std::move(commit);
  return step;
}

report::TraceStep measured(std::size_t place, std::string commit, double effect,
                           std::vector<double> posterior) {
  auto step = built(place, std::move(commit));
  step.kind = EventKind::measured;
  step.against = "g00d";
  step.readings = {{kTime, effect, 3}};
  step.posterior = std::move(posterior);
  return step;
}

bisection::NamedCulprit sure_culprit(std::string commit) {
  bisection::NamedCulprit culprit;
  culprit.commits = {std::move(commit)};
  culprit.confidence = 0.999;
  culprit.verified = "against its parent";
  return culprit;
}

bisection::BisectionResult found(bisection::NamedCulprit culprit) {
  bisection::BisectionResult result;
  result.culprits = {std::move(culprit)};
  return result;
}

/// What is drawn of a search that measured c1 and c2, and came to that result.
drawing::PosteriorSteps drawn_of(const bisection::BisectionResult& result) {
  const Somewhere somewhere;
  auto row = search();
  row.result_json = to_json(result);
  return evidence::posterior_steps(somewhere.context, row,
                                   {built(3, "bad5"), measured(1, "c1", 0.1, {0.2, 0.4, 0.2, 0.2}),
                                    measured(2, "c2", 0.1, {0.2, 0.6, 0.2, 0})});
}

}  // namespace

TEST_CASE("a commit stands for those before it that were not tried") {
  const Somewhere somewhere;
  const auto drawn = evidence::posterior_steps(
      somewhere.context, search(),
      {built(4, "bad5"), built(2, "c2"), measured(2, "c2", 0.1, {0.5, 0.25, 0.125, 0.125, 0})});
  REQUIRE(drawn.commits.size() == 2);
  CHECK(drawn.commits[0].sha == "c2");
  CHECK(drawn.commits[0].subject == "with 2 before it that were not tried");
  CHECK(drawn.commits[0].untried_before == 2);
  CHECK(drawn.commits[1].sha == "bad5");
  REQUIRE(drawn.steps.size() == 1);
  CHECK(drawn.steps[0].probe == 0U);
  CHECK(drawn.steps[0].masses == std::vector<double>{0.875, 0.125});
  REQUIRE(drawn.steps[0].ratio);
  CHECK(*drawn.steps[0].ratio == Approx(std::exp(0.1)));
}

TEST_CASE("measurements before a culprit is looked for move no belief") {
  const Somewhere somewhere;
  const auto drawn = evidence::posterior_steps(
      somewhere.context, search(),
      {built(1, "bad5"), measured(1, "bad5", 0.1, {0, 0}), measured(1, "bad5", 0.1, {0.5, 0.5})});
  CHECK(drawn.steps.size() == 1);
}

TEST_CASE("the bad end has a column although nothing says that it was built") {
  const Somewhere somewhere;
  const auto drawn = evidence::posterior_steps(somewhere.context, search(),
                                               {measured(0, "c0", 0.1, {0.25, 0.25, 0.5})});
  REQUIRE(drawn.commits.size() == 2);
  CHECK(drawn.commits[1].sha == "bad5");
  CHECK(drawn.steps[0].masses == std::vector<double>{0.25, 0.75});
}

TEST_CASE("culprits and commits that cannot be built have a state of their own") {
  const Somewhere somewhere;
  auto row = search();
  row.result_json = to_json(found(sure_culprit("c1")));
  auto unbuildable = built(0, "c0");
  unbuildable.kind = EventKind::unbuildable;
  const auto drawn = evidence::posterior_steps(
      somewhere.context, row,
      {built(2, "bad5"), unbuildable, measured(1, "c1", 0.1, {0.25, 0.5, 0.25})});
  REQUIRE(drawn.commits.size() == 3);
  CHECK(drawn.commits[0].state == CommitState::unbuildable);
  CHECK(drawn.commits[1].state == CommitState::culprit);
  CHECK(drawn.commits[2].state == CommitState::searched);
}

TEST_CASE("a culprit that is not sure or in doubt is drawn as a possible one") {
  auto unlikely = sure_culprit("c1");
  unlikely.confidence = 0.9;
  auto unverified = sure_culprit("c1");
  unverified.verified = "";
  auto contradicted = sure_culprit("c1");
  contradicted.revert = bisection::RevertOutcome::change_stays;
  for (const auto& culprit : {unlikely, unverified, contradicted}) {
    const auto drawn = drawn_of(found(culprit));
    REQUIRE(drawn.commits.size() == 3);
    CHECK(drawn.commits[0].state == CommitState::suspect);
    CHECK(drawn.commits[1].state == CommitState::searched);
  }
}

TEST_CASE("commits that could not be distinguished are each drawn as a possible culprit") {
  auto several = sure_culprit("c1");
  several.commits.emplace_back("c2");
  bisection::BisectionResult suspected;
  suspected.suspects = {"c1", "c2"};
  for (const auto& result : {found(several), suspected}) {
    const auto drawn = drawn_of(result);
    REQUIRE(drawn.commits.size() == 3);
    CHECK(drawn.commits[0].state == CommitState::suspect);
    CHECK(drawn.commits[1].state == CommitState::suspect);
    CHECK(drawn.commits[2].state == CommitState::searched);
  }
}

TEST_CASE("a change against another commit than the good end is not drawn as one against it") {
  const Somewhere somewhere;
  auto step = measured(1, "bad5", 0.1, {0.5, 0.5});
  step.against = "c0";
  const auto drawn = evidence::posterior_steps(somewhere.context, search(), {step});
  CHECK_FALSE(drawn.steps[0].ratio);
}
