// What is asked for, before anything is built.
#include <catch2/catch.hpp>

#include "torchwatch/pulls/pulls.hpp"

using namespace torchwatch;
using namespace torchwatch::pulls;
using Catch::Contains;
using nlohmann::json;

namespace {

config::Config ready() {
  config::Config config;
  config.source.repository = "/srv/pytorch.git";
  config.build.recipe = "/srv/recipe";
  config.github.repository = "owner/name";
  return config;
}

std::string refusal(const config::Config& config, bool is_confined, const json& body) {
  const auto checked = check(config, is_confined, body);
  return checked ? "" : checked.error().text();
}

}  // namespace

TEST_CASE("what is asked for reads back as it was written") {
  const PullSpec spec{.pull = 17,
                      .head = "5d1c1c3f0a9e",
                      .selection = {.workloads = {"dlrm"}},
                      .login = "ada",
                      .asked_at = 1'786'849'445'000};
  CHECK(parse_pull_spec(to_json(spec)).value() == spec);
  CHECK(is_pull_spec(to_json(spec)));
  CHECK_FALSE(is_pull_spec({{"candidate", "a"}, {"baseline", "b"}}));
}

TEST_CASE("what cannot be a pull request or a commit is refused") {
  for (const json& body :
       {json{{"pull", 0}}, json{{"pull", -1}}, json{{"pull", "17"}}, json{{"pull", 1.5}},
        json{{"pull", 1}, {"head", "main"}}, json{{"pull", 1}, {"head", "abc"}},
        json{{"pull", 1}, {"head", "refs/pull/2/head"}}, json{{"pull", 1}, {"head", "--upload"}},
        json{{"pull", 1}, {"head", "ABCDEF1"}}, json{{"pull", 1}, {"head", 7}},
        json{{"pull", 1}, {"login", "a/../../x"}}}) {
    CAPTURE(body.dump());
    CHECK_FALSE(parse_pull_spec(body).has_value());
  }
}

TEST_CASE("nothing is stored where pull requests could never be built") {
  const json body{{"pull", 17}};
  CHECK(refusal(ready(), true, body).empty());
  CHECK_THAT(refusal(ready(), false, body), Contains("in the sandbox only"));
  auto config = ready();
  config.build.recipe.clear();
  CHECK_THAT(refusal(config, true, body), Contains("set [source] repository and [build] recipe"));
  config = ready();
  config.github.repository.clear();
  CHECK_THAT(refusal(config, true, body), Contains("set [github] repository"));
}
