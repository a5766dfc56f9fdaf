#include "events.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::bisection;

namespace {

std::vector<BisectionEvent> one_of_each() {
  return {CommitsWeighed{.weights = {1.5, 0.5}, .reason = "the 6 culprits named before"},
          PairsMeasured{.readings = {.candidate = 3,
                                     .reference = std::nullopt,
                                     .effects = {{0, {0.1, 0.2}}},
                                     .references = {{0, {7.0, 7.5}}}},
                        .purpose = bisect::Purpose::verify_ends,
                        .posterior = {0.5, 0.5}},
          RunsMeasured{.readings = {.candidate = 1, .readings = {{0, {7.25}}}},
                       .purpose = bisect::Purpose::probe,
                       .posterior = {0.9, 0.1}},
          CommitBuilt{.candidate = 1,
                      .commit = "c1",
                      .content_hash = "hash",
                      .origin = "https://builds.example/c1",
                      .at_hand = true},
          CommitUnbuildable{.candidate = 2, .commit = "c2", .reason = "exit 125", .fault = true},
          BuildSetAside{.side = std::nullopt, .beside = 1, .recipe_alone = true},
          bisect::SameLibrary{.earlier = 1, .later = 2},
          SeriesDropped{.series = 0, .reason = "the workload fails"},
          MachineChanged{.reason = "kernel"},
          RevertCheck{.culprit = 1,
                      .applies = true,
                      .builds = true,
                      .effects = {{0, 0.1}},
                      .gone = true,
                      .reason = ""}};
}

}  // namespace

TEST_CASE("every event reads back as it was stored") {
  const auto events = one_of_each();
  REQUIRE(events.size() == std::variant_size_v<BisectionEvent>);
  for (int ordinal = 0; const auto& event : events) {
    const auto row = row_of(event, ordinal);
    CHECK(row.ordinal == ordinal++);
    const auto read = parse_event(row).value();
    CHECK(read.index() == event.index());
    CHECK(row_of(read, row.ordinal).body_json == row.body_json);
  }
}

TEST_CASE("a series may be dropped at one class, and an older event drops it everywhere") {
  const SeriesDropped at_class{.series = 1, .reason = "crashed", .candidate = 3};
  const auto read = parse_event(row_of(at_class, 0)).value();
  CHECK(std::get<SeriesDropped>(read).candidate == std::size_t{3});
  const auto lost = std::get<bisect::SeriesLost>(search_event_of(read).value());
  CHECK(lost.candidate == std::size_t{3});
  const auto older = parse_event({0, "series_lost", R"({"series":1,"reason":"crashed"})"}).value();
  CHECK_FALSE(std::get<SeriesDropped>(older).candidate);
}

TEST_CASE("a reason that is no UTF-8 is stored, and ends no search") {
  const auto row =
      row_of(RevertCheck{.culprit = 1, .effects = {}, .reason = "caf\xe9 conflicts"}, 0);
  CHECK(std::get<RevertCheck>(parse_event(row).value()).reason == "caf\xEF\xBF\xBD conflicts");
}

TEST_CASE("the search is replayed from everything but the reverts") {
  for (const auto& event : one_of_each()) {
    CHECK(search_event_of(event).has_value() == !std::holds_alternative<RevertCheck>(event));
  }
}

TEST_CASE("the good end's build is a fact of the search that tells it nothing") {
  const auto row = row_of(CommitBuilt{.candidate = std::nullopt,
                                      .commit = "good",
                                      .content_hash = "hash",
                                      .origin = "https://builds.example/good"},
                          0);
  const auto read = parse_event(row).value();
  CHECK_FALSE(std::get<CommitBuilt>(read).candidate);
  CHECK(std::get<CommitBuilt>(read).origin == "https://builds.example/good");
  CHECK_FALSE(search_event_of(read));
}

TEST_CASE("an event of an unknown kind or purpose, or without a member, is corrupt and named") {
  const auto error_of = [](const std::string& kind, const std::string& body) {
    return parse_event({7, kind, body}).error();
  };
  CHECK(error_of("vanished", "{}").code == ErrorCode::corrupt);
  CHECK(error_of("vanished", "{}").message == "event 7: unknown kind \"vanished\"");
  CHECK(error_of("measured", R"({"purpose":"fun"})").message == "event 7: unknown purpose \"fun\"");
  CHECK(error_of("built", "{}").code == ErrorCode::corrupt);
  CHECK(error_of("built", "{").code == ErrorCode::corrupt);
  CHECK(error_of("measured_alone", R"({"candidate":1,"readings":{"x":[1]},"purpose":"probe"})")
            .code == ErrorCode::corrupt);
}
