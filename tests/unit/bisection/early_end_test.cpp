#include "torchwatch/bisection/early_end.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using bisection::cancelled_by;
using bisection::public_reason;

TEST_CASE("an issue does not say which user of the machine, token or workflow cancelled a search") {
  const auto told = [](const Asker& asker) { return public_reason(cancelled_by(asker)); };
  CHECK(told({.user = 1000}) == "cancelled by somebody on the machine");
  CHECK(told({.token = "ci"}) == "cancelled by somebody with a token");
  CHECK(told({.token = name_of_workflow("owner/private", "refs/heads/secret")}) ==
        "cancelled by a workflow");
  CHECK(told(github_user("ada")) == "cancelled by github ada");
}

TEST_CASE("that what is named was confirmed before stays behind who cancelled") {
  const std::string behind(bisection::kConfirmedBefore);
  CHECK(public_reason("cancelled by uid 1000" + behind) ==
        "cancelled by somebody on the machine" + behind);
}

TEST_CASE("another reason than that somebody cancelled stays as it is") {
  for (const auto* reason : {"", "uid 1000", "the build's uid 1000 is not known", "cancelled"}) {
    CHECK(public_reason(reason) == reason);
  }
}
