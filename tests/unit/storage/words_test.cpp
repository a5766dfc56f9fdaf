#include "words.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

/// Checks that all enumerators up to `last` are spelled differently and read back.
template <typename Enum>
void require_round_trip(Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    REQUIRE(parse_word<Enum>(to_string(static_cast<Enum>(i))) == static_cast<Enum>(i));
  }
}

}  // namespace

TEST_CASE("every stored word reads back to its enumerator") {
  require_round_trip(BuildOrigin::release);
  require_round_trip(BuildState::rejected);
  require_round_trip(Purpose::measurement);
  require_round_trip(ComparisonState::refused);
  require_round_trip(AttemptState::abandoned);
  require_round_trip(IncidentState::closed);
  require_round_trip(BisectionState::ended);
  require_round_trip(OutboxKind::close);
  require_round_trip(OutboxState::dead);
  require_round_trip(RequestKind::bisection);
  require_round_trip(RequestState::failed);
}

TEST_CASE("a word that is not in the vocabulary is not read") {
  REQUIRE(parse_word<ComparisonState>("judged") == ComparisonState::judged);
  REQUIRE_FALSE(parse_word<ComparisonState>("Judged"));
  REQUIRE_FALSE(parse_word<ComparisonState>(""));
  REQUIRE(parse_word<OutboxKind>("shut").error().message ==
          "kind of a message \"shut\" is not known; allowed: open, comment, close, reopen, edit, "
          "umbrella, digest, reply, pull_comment, status, check, dispatch, webhook, mail");
}
