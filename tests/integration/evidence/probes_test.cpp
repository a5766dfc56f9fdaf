#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/evidence/bisection.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"

using namespace torchwatch;
using bisection::EventKind;
using drawing::CommitState;

namespace {

/// A search whose good end and one class were measured; another one does not build.
struct Searched : EvidenceRows {
  Searched() {
    row.good = "g00d";
    row.bad = "bad5";
    row.spec_json = "{}";
    row = storage::BisectionStore(*database).open(row).value();
  }

  Id add_commit(const std::string& sha) {
    storage::BuildStore builds(*database);
    auto build = builds.discover(storage::BuildOrigin::commit, sha).value();
    build.folder = "/builds/" + sha;
    build.content_hash = "hash of " + sha;
    return builds.mark_ready(build).value().id;
  }

  void add_values(Id build, std::vector<std::int64_t> samples, std::int64_t value) {
    storage::RunStore runs(*database);
    const auto token = "run " + std::to_string(++now);
    REQUIRE(runs.issue({.owner = {storage::OwnerKind::bisection, row.id},
                        .slot = "search/" + token,
                        .build = build,
                        .benchmark = series.benchmark},
                       token, now));
    RunResult result;
    result.attempt = token;
    result.samples_ns = std::move(samples);
    result.values = {{Metric::time, value}};
    result.environment.facts = facts;
    REQUIRE(runs.record({{token, result}}, ++now));
  }

  report::TraceStep step(EventKind kind, std::size_t place, const std::string& sha) const {
    report::TraceStep step;
    step.kind = kind;
    step.place = place;
    step.commit = sha;
    if (kind == EventKind::measured) step.readings = {{series, 0.1, 1}};
    return step;
  }

  Series series = series_of("resnet18");
  storage::BisectionRow row;
};

}  // namespace

TEST_CASE("a commit that was tried has every sample of its runs, oldest first") {
  Searched rows;
  const auto good = rows.add_commit("g00d");
  const auto middle = rows.add_commit("c2");
  rows.add_values(good, {10, 12, 11}, 11);
  rows.add_values(good, {13, 14, 15}, 14);
  rows.add_values(middle, {20, 21, 22}, 21);
  rows.add_values(rows.add_commit("reverted"), {1, 1, 1}, 1);
  const auto drawn = evidence::probe_strips(rows.context, rows.row,
                                            {rows.step(EventKind::unbuildable, 3, "c3"),
                                             rows.step(EventKind::measured, 2, "c2")})
                         .value();
  REQUIRE(drawn.commits.size() == 3);
  CHECK(drawn.metric == Metric::time);
  CHECK(drawn.commits[0].sha == "g00d");
  CHECK(drawn.commits[0].values == std::vector<double>{10, 12, 11, 13, 14, 15});
  CHECK(drawn.commits[1].values == std::vector<double>{20, 21, 22});
  CHECK(drawn.commits[2].state == CommitState::unbuildable);
  CHECK(drawn.commits[2].values.empty());
  CHECK(
      evidence::seconds_measured(rows.context, rows.row, {rows.step(EventKind::measured, 2, "c2")})
          .value() > 0);
}

TEST_CASE("of a search without a measurement there is nothing to draw") {
  Searched rows;
  CHECK(evidence::probe_strips(rows.context, rows.row, {rows.step(EventKind::built, 2, "c2")})
            .value()
            .commits.empty());
}
