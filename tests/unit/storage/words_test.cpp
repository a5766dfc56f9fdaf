#include "words.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::storage;

namespace {

/// All enumerators up to `last` are spelled differently and read back.
template <typename Enum>
void require_round_trip(Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    Enum parsed{};
    REQUIRE(parse(to_string(static_cast<Enum>(i)), parsed));
    REQUIRE(parsed == static_cast<Enum>(i));
  }
}

}  // namespace

TEST_CASE("every stored word reads back to its enumerator") {
  require_round_trip(BuildOrigin::release);
  require_round_trip(BuildState::rejected);
  require_round_trip(NightKind::self_test);
  require_round_trip(NightState::refused);
  require_round_trip(AttemptState::stale);
  require_round_trip(IncidentState::closed);
  require_round_trip(BisectionState::ended);
  require_round_trip(OutboxKind::close);
  require_round_trip(OutboxState::dead);
  require_round_trip(RequestKind::bisection);
  require_round_trip(RequestState::failed);
}

TEST_CASE("a word that is not in the vocabulary is not read") {
  NightState state = NightState::judged;
  REQUIRE_FALSE(parse("Judged", state));
  REQUIRE_FALSE(parse("", state));
  REQUIRE(state == NightState::judged);
}
