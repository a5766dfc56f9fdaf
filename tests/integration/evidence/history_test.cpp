#include <algorithm>
#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using comparison::Stage;
using drawing::MarkKind;

namespace {

constexpr storage::WallMillis kDay = 24LL * 60 * 60 * 1000;
const Series kTime = series_of("resnet18");

/// Four nightlies, a comparison a day.
struct Nightlies : EvidenceRows {
  Nightlies() {
    add_build("2.14.0.dev20260815", "2.14.0.dev20260815");
    compare("2.14.0.dev20260816", 1.00);
    compare("2.14.0.dev20260817", 1.10);
    compare("2.15.0.dev20260818", 1.01);
  }

  void compare(const std::string& name, double ratio) {
    const auto candidate = add_build(name, name);
    const auto row = add_comparison(candidate, candidate - 1, ++days * kDay);
    add_verdict(row.id, kTime, ratio > 1.06 ? Verdict::regressed : Verdict::unchanged, ratio);
    add_block(row, kTime.benchmark, Stage::screen);
    ids.push_back(row.id);
  }

  int days = 0;
  std::vector<Id> ids = {};
};

std::vector<drawing::HistoryMark> marks_of(const drawing::History& history, MarkKind kind) {
  std::vector<drawing::HistoryMark> marks;
  std::ranges::copy_if(history.marks, std::back_inserter(marks),
                       [&](const auto& mark) { return mark.kind == kind; });
  return marks;
}

}  // namespace

TEST_CASE("a history has a point for each nightly comparison, the oldest first") {
  Nightlies rows;
  rows.context.links.comparison = [](auto id) { return "c/" + std::to_string(id); };
  const auto history = evidence::history_of(rows.context, {.series = kTime}).value();
  REQUIRE(history.points.size() == 3);
  CHECK(history.points[0].build == "2.14.0.dev20260816");
  CHECK(history.points[0].time == "1970-01-02T00:00:00Z");
  CHECK(history.points[1].value == Approx(110));
  REQUIRE(history.points[1].interval);
  CHECK(history.points[1].interval->low == Approx(108));
  CHECK(history.points[1].interval->high == Approx(112));
  CHECK(history.points[1].verdict == Verdict::regressed);
  CHECK(history.points[2].link == "c/" + std::to_string(rows.ids[2]));
}

TEST_CASE("a history of ratios has the interval of each, and no point of what has no ratio") {
  Nightlies rows;
  const auto leak = series_of("resnet18", Metric::leak_growth);
  rows.add_verdict(rows.ids[0], leak, Verdict::unchanged, 0, 64);
  const auto ratios =
      evidence::history_of(rows.context, {.series = kTime, .is_ratio = true}).value();
  CHECK(ratios.points[1].value == Approx(1.1));
  CHECK(ratios.points[1].interval->high == Approx(1.12));
  CHECK(evidence::history_of(rows.context, {.series = leak}).value().points.size() == 1);
  const auto none = evidence::history_of(rows.context, {.series = leak, .is_ratio = true}).value();
  CHECK(none.points.empty());
}

TEST_CASE("from, until and limit cut a history") {
  Nightlies rows;
  const auto later =
      evidence::history_of(rows.context, {.series = kTime, .from = 2 * kDay}).value();
  CHECK(later.points.size() == 2);
  const auto earlier =
      evidence::history_of(rows.context, {.series = kTime, .until = 2 * kDay}).value();
  CHECK(earlier.points.size() == 1);
  const auto newest = evidence::history_of(rows.context, {.series = kTime, .limit = 1}).value();
  REQUIRE(newest.points.size() == 1);
  CHECK(newest.points[0].build == "2.15.0.dev20260818");
}

TEST_CASE("a version that begins is marked") {
  Nightlies rows;
  const auto history = evidence::history_of(rows.context, {.series = kTime}).value();
  const auto marks = marks_of(history, MarkKind::build);
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].label == "version 2.14.0 to 2.15.0");
  CHECK(marks[0].time == history.points[2].time);
}

TEST_CASE("a changed environment is marked with the facts that differ") {
  Nightlies rows;
  rows.facts["kernel"] = "6.8";
  rows.facts["gpu_driver"] = "555.42";
  rows.facts["build.library.libtorch_cpu.so"] = "2f0c";
  rows.compare("2.15.0.dev20260819", 1.0);
  const auto history = evidence::history_of(rows.context, {.series = kTime}).value();
  const auto marks = marks_of(history, MarkKind::environment);
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].label == "gpu driver none to 555.42, kernel 6.1 to 6.8");
  CHECK(marks[0].time == history.points[3].time);
}

TEST_CASE("a path of this machine in a fact that changed is not for strangers") {
  Nightlies rows;
  rows.facts["libgomp"] = "/home/ada/libgomp.so 1f0c";
  rows.compare("2.15.0.dev20260819", 1.0);
  rows.context.is_trusted = false;
  const auto history = evidence::history_of(rows.context, {.series = kTime}).value();
  const auto marks = marks_of(history, MarkKind::environment);
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].label == "libgomp changed");
}

TEST_CASE("incidents and self-tests of the series are marked, those of others are not") {
  Nightlies rows;
  storage::IncidentRow incident;
  incident.comparison = rows.ids[1];
  incident.key = "time-cpu:abc";
  incident.title = "resnet18 slower";
  incident.series = {{kTime, 1.1, 1.08, 1.12, 100, 110}};
  incident.opened_at = 2 * kDay;
  REQUIRE(storage::IncidentStore(*rows.database).open(incident));
  const auto test = rows.add_comparison(1, 1, 3 * kDay, storage::Purpose::self_test);
  rows.add_verdict(test.id, kTime, Verdict::unchanged, 1.0);
  const auto history = evidence::history_of(rows.context, {.series = kTime}).value();
  REQUIRE(marks_of(history, MarkKind::incident).size() == 1);
  CHECK(marks_of(history, MarkKind::incident)[0].label == "incident 1: resnet18 slower");
  REQUIRE(marks_of(history, MarkKind::self_test).size() == 1);
  CHECK(marks_of(history, MarkKind::self_test)[0].label == "self-test: unchanged");
  CHECK(history.points.size() == 3);
  const auto other = evidence::history_of(rows.context, {.series = series_of("alexnet")}).value();
  CHECK(other.points.empty());
  CHECK(other.marks.empty());
}

namespace {

/// Nightlies that hardly differ, with a peak, two changes and a first one that is neither.
struct LongPast : EvidenceRows {
  static constexpr int kPeak = 57;

  LongPast() {
    for (int day = 0; day < 120; ++day) {
      const auto build = add_build("nightly-" + std::to_string(day));
      const auto row = add_comparison(build, build, (day + 1) * kDay);
      const double ratio = day == kPeak ? 2 : 1 + ((day * 37) % 11) * 0.001;
      add_verdict(row.id, kTime, verdict_of(day), ratio);
    }
  }

  static Verdict verdict_of(int day) {
    if (day == 31 || day == 32) return Verdict::regressed;
    return day == 77 ? Verdict::improved : Verdict::unchanged;
  }
};

double value_of(const drawing::HistoryPoint& point) {
  return point.value;
}

}  // namespace

TEST_CASE("of a long history the ends, the changes and each stretch's extremes are kept") {
  LongPast rows;
  constexpr std::size_t kStretches = 10;
  const auto whole = evidence::history_of(rows.context, {.series = kTime}).value();
  const auto kept =
      evidence::history_of(rows.context, {.series = kTime, .most = 2 * kStretches}).value();
  REQUIRE(whole.points.size() == 120);
  CHECK(whole.left_out == 0);
  CHECK(kept.left_out + kept.points.size() == 120);
  CHECK(kept.points.size() <= 2 * kStretches + 3 + 2);
  CHECK(kept.points.front().build == "nightly-0");
  CHECK(kept.points.back().build == "nightly-119");
  CHECK(std::ranges::is_sorted(kept.points, {}, &drawing::HistoryPoint::time));
  const auto shows = [&](const drawing::HistoryPoint& point) {
    return std::ranges::find(kept.points, point.build, &drawing::HistoryPoint::build) !=
           kept.points.end();
  };
  for (const auto& point : whole.points) {
    INFO(point.build);
    CHECK((point.verdict == Verdict::unchanged || shows(point)));
  }
  constexpr std::ptrdiff_t kLong = 12;
  for (auto begin = whole.points.begin(); begin != whole.points.end(); begin += kLong) {
    const auto [least, greatest] = std::ranges::minmax_element(begin, begin + kLong, {}, value_of);
    CHECK(shows(*least));
    CHECK(shows(*greatest));
  }
}

TEST_CASE("marks of points that a history leaves out stay") {
  LongPast rows;
  const auto build = rows.add_build("nightly-x", "2.15.0");
  const auto late = rows.add_comparison(build, build, 121 * kDay);
  rows.add_verdict(late.id, kTime, Verdict::unchanged, 1.0);
  for (int day = 122; day < 160; ++day) {
    const auto next = rows.add_build("nightly-" + std::to_string(day), "2.15.0");
    rows.add_verdict(rows.add_comparison(next, next, day * kDay).id, kTime, Verdict::unchanged, 1);
  }
  const auto whole = evidence::history_of(rows.context, {.series = kTime}).value();
  const auto kept = evidence::history_of(rows.context, {.series = kTime, .most = 4}).value();
  REQUIRE(marks_of(whole, MarkKind::build).size() == 1);
  REQUIRE(marks_of(kept, MarkKind::build).size() == 1);
  CHECK(marks_of(kept, MarkKind::build)[0].time == marks_of(whole, MarkKind::build)[0].time);
}

TEST_CASE("a history of ratios keeps the extremes of its ratios") {
  LongPast rows;
  const auto kept =
      evidence::history_of(rows.context, {.series = kTime, .most = 4, .is_ratio = true}).value();
  const auto greatest = std::ranges::max_element(kept.points, {}, value_of);
  CHECK(greatest->build == "nightly-" + std::to_string(LongPast::kPeak));
}

TEST_CASE("a history of values has what the newest drift comparison compared with, ratios do not") {
  Nightlies rows;
  rows.context.links.comparison = [](auto id) { return "c/" + std::to_string(id); };
  CHECK_FALSE(evidence::history_of(rows.context, {.series = kTime}).value().drift);
  const auto compare = [&](storage::Id candidate, storage::Id baseline, int day) {
    return storage::ComparisonStore(*rows.database)
        .open({.purpose = storage::Purpose::drift,
               .candidate = candidate,
               .baseline = baseline,
               .nightlies_back = 3},
              day * kDay)
        .value();
  };
  const auto older = compare(3, 1, 10);
  rows.add_verdict(older.id, kTime, Verdict::unchanged, 1.02);
  const auto newest = compare(4, 1, 11);
  rows.add_verdict(newest.id, kTime, Verdict::unchanged, 1.03);
  const auto failed = compare(4, 2, 12);
  rows.add_verdict(failed.id, kTime, Verdict::failed, 0);
  const auto drift = evidence::history_of(rows.context, {.series = kTime}).value().drift;
  REQUIRE(drift);
  CHECK(drift->build == "2.14.0.dev20260815");
  CHECK(drift->value == 100);
  CHECK(drift->time == "1970-01-12T00:00:00Z");
  CHECK(drift->link == "c/" + std::to_string(newest.id));
  CHECK_FALSE(
      evidence::history_of(rows.context, {.series = kTime, .is_ratio = true}).value().drift);
}
