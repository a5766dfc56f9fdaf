#include "torchwatch/evidence/pasts.hpp"

#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using evidence::Pasts;

namespace {

const Series kTime = series_of("resnet18");
const Series kOther = series_of("alexnet");

/// Three nightlies of which the second failed, without a verdict.
struct ThreeNightlies : EvidenceRows {
  ThreeNightlies() {
    for (int day = 0; day < 3; ++day) {
      const auto build = add_build("day-" + std::to_string(day));
      comparisons.push_back(add_comparison(build, day == 0 ? build : build - 1, day + 1).id);
      if (day == 1) continue;
      add_verdict(comparisons.back(), kTime, Verdict::unchanged, 1 + day * 0.01);
      add_verdict(comparisons.back(), kOther, Verdict::unchanged, 1);
    }
  }

  /// The comparisons that have a value, by a reader.
  std::vector<Id> asked(Pasts& pasts, const Series& series) const {
    std::vector<Id> found;
    const auto values = pasts.of(series).value();
    for (const auto& value : values) found.push_back(value.nightly.comparison);
    return found;
  }

  std::vector<Id> comparisons;
};

using Ids = std::vector<storage::Id>;

}  // namespace

TEST_CASE("a past has what each nightly measured, oldest first") {
  ThreeNightlies rows;
  Pasts pasts(*rows.database);
  const auto values = pasts.of(kTime).value();
  REQUIRE(values.size() == 2);
  CHECK(values[0].nightly.build == "day-0");
  CHECK(values[1].nightly.build == "day-2");
  CHECK(values[1].nightly.at == 3);
  CHECK(values[1].interval_low == Approx(1.0));
  CHECK(values[1].interval_high == Approx(1.04));
  CHECK(values[1].baseline_value == 100);
  CHECK(values[1].runs == 8);
  CHECK(pasts.of(series_of("no such model")).value().empty());
}

TEST_CASE("a past that was read has also what a nightly between those of it says later") {
  ThreeNightlies rows;
  Pasts pasts(*rows.database);
  CHECK(rows.asked(pasts, kTime) == Ids{rows.comparisons[0], rows.comparisons[2]});
  rows.add_verdict(rows.comparisons[1], kTime, Verdict::regressed, 1.2);
  CHECK(rows.asked(pasts, kTime) == rows.comparisons);
}

TEST_CASE("a past that was read has also what a nightly after it says") {
  ThreeNightlies rows;
  Pasts pasts(*rows.database);
  CHECK(rows.asked(pasts, kTime).size() == 2);
  const auto build = rows.add_build("day-3");
  const auto newest = rows.add_comparison(build, build - 1, 4).id;
  CHECK(rows.asked(pasts, kTime).size() == 2);
  rows.add_verdict(newest, kTime, Verdict::unchanged, 1);
  const auto known = pasts.of(kTime).value();
  const auto& last = known.back().nightly;
  CHECK(last.comparison == newest);
  CHECK(last.build == "day-3");
  CHECK(last.at == 4);
}

TEST_CASE("of a nightly that was opened while a past was read nothing is known before the next") {
  ThreeNightlies rows;
  const auto nightlies = storage::nightlies_after(*rows.database, 0).value();
  REQUIRE(nightlies.size() == 3);
  const auto build = rows.add_build("day-3");
  rows.add_verdict(rows.add_comparison(build, build - 1, 4).id, kTime, Verdict::unchanged, 1);
  const auto values = storage::past_values(*rows.database, kTime, nightlies, 10).value();
  REQUIRE(values.size() == 2);
  CHECK(values.back().nightly.comparison == rows.comparisons[2]);
}

TEST_CASE("a past has values of nightly comparisons alone, wherever the others stand") {
  ThreeNightlies rows;
  Pasts pasts(*rows.database);
  const auto asked_for = [&] {
    const auto build = rows.add_build("asked-" + std::to_string(rows.comparisons.size()));
    const auto id = rows.add_comparison(build, build - 1, 9, storage::Purpose::requested).id;
    rows.add_verdict(id, kTime, Verdict::regressed, 2);
  };
  asked_for();
  CHECK(rows.asked(pasts, kTime) == Ids{rows.comparisons[0], rows.comparisons[2]});
  const auto build = rows.add_build("day-3");
  rows.comparisons.push_back(rows.add_comparison(build, build - 1, 4).id);
  rows.add_verdict(rows.comparisons.back(), kTime, Verdict::unchanged, 1);
  asked_for();
  CHECK(rows.asked(pasts, kTime) ==
        Ids{rows.comparisons[0], rows.comparisons[2], rows.comparisons[3]});
}

TEST_CASE("of a past longer than the limit the newest nightlies are known") {
  ThreeNightlies rows;
  Pasts pasts(*rows.database, 1);
  for (int time = 0; time < 2; ++time) {
    CHECK(rows.asked(pasts, kTime) == Ids{rows.comparisons[2]});
  }
}
