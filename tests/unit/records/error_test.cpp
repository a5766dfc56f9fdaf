#include "torchwatch/records/error.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

namespace {

const Error kReversed{ErrorCode::invalid, "the range is reversed", "swap the two"};

Status refused() {
  return fail(ErrorCode::conflict, "it is held", "try again later");
}

Result<int> tried() {
  TW_TRY_VOID(refused());
  return 1;
}

}  // namespace

TEST_CASE("people read the message of an error and its remedy in one text") {
  CHECK(kReversed.text() == "the range is reversed; swap the two");
  CHECK(Error{ErrorCode::invalid, "limit must be 1 to 200"}.text() == "limit must be 1 to 200");
}

TEST_CASE("the remedy of a message of several lines has a line of its own") {
  const Error error{ErrorCode::invalid, "a:1: no number\na:2: no text", "correct both"};
  CHECK(error.text() == "a:1: no number\na:2: no text\ncorrect both");
}

TEST_CASE("an error keeps its remedy where context or another code is added") {
  const auto placed = kReversed.within("bisection 7");
  CHECK(placed.code == ErrorCode::invalid);
  CHECK(placed.message == "bisection 7: the range is reversed");
  CHECK(placed.remedy == "swap the two");
  const auto other = kReversed.as(ErrorCode::unavailable);
  CHECK(other.code == ErrorCode::unavailable);
  CHECK(other.text() == kReversed.text());
}

TEST_CASE("an error that is passed on keeps its remedy") {
  const auto error = tried().error();
  CHECK(error.message == "it is held");
  CHECK(error.remedy == "try again later");
}
