#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using Catch::Contains;
using torchwatch::test::TemporaryFolder;

namespace {

const std::string kEntry =
    "[web]\npublic_address = \"https://perf.example.org\"\n"
    "[[web.oidc]]\nrepository_id = \"74\"\nref = \"refs/heads/main\"\n"
    "job_workflow_ref = \"owner/name/.github/workflows/nightly.yml@refs/heads/main\"\n";

Result<Config> loaded(const std::string& text) {
  const TemporaryFolder folder;
  return load(folder.write("torchwatch.toml", text), true);
}

std::string error_of(const std::string& text) {
  const auto result = loaded(text);
  REQUIRE_FALSE(result);
  return result.error().text();
}

}  // namespace

TEST_CASE("without an entry no workflow is trusted") {
  CHECK(Config{}.web.oidc.empty());
}

TEST_CASE("an entry lists a workflow and what it may do") {
  const auto config = loaded(kEntry + "scopes = [\"read\", \"measure\"]\n");
  if (!config) FAIL(config.error().text());
  REQUIRE(config->web.oidc.size() == 1);
  const auto& entry = config->web.oidc.front();
  CHECK(entry.issuer == "https://token.actions.githubusercontent.com");
  CHECK(entry.audience.empty());
  CHECK(entry.repository_id == "74");
  CHECK(entry.scopes == Scopes{Scope::read, Scope::measure});
}

TEST_CASE("an entry that leaves out what it trusts is refused") {
  CHECK_THAT(error_of(kEntry), Contains("scopes is missing"));
  for (const auto* name : {"repository_id", "ref", "job_workflow_ref"}) {
    auto text = kEntry + "scopes = [\"measure\"]\n";
    const auto at = text.find(std::string(name) + " = ");
    auto without = text;
    without.erase(at, text.find('\n', at) + 1 - at);
    CHECK_THAT(error_of(without), Contains(std::string(name) + " is missing"));
    auto empty = text;
    const auto value = text.find('"', at);
    empty.replace(value, text.find('"', value + 1) + 1 - value, "\"\"");
    CHECK_THAT(error_of(empty), Contains(std::string(name) + ": invalid value"));
  }
}

TEST_CASE("an entry whose audience nothing names, or whose issuer anybody may be, is refused") {
  auto text = kEntry + "scopes = [\"measure\"]\n";
  const auto alone = text.substr(text.find("[[web.oidc]]"));
  CHECK_THAT(error_of(alone), Contains("[[web.oidc]] audience: must be set"));
  CHECK(loaded(alone + "audience = \"perf\"\n"));
  CHECK_THAT(error_of(text + "issuer = \"http://issuer.example\"\n"), Contains("issuer"));
  CHECK_THAT(error_of(text + "issuer = \"https://me:x@issuer.example\"\n"), Contains("issuer"));
  CHECK(loaded(text + "issuer = \"http://127.0.0.1:8080\"\n"));
}

TEST_CASE("a workflow gets no right over tokens, builds and the database") {
  CHECK_THAT(error_of(kEntry + "scopes = [\"admin\"]\n"), Contains("read, triage, measure"));
  CHECK_THAT(error_of(kEntry + "scopes = [\"write\"]\n"), Contains("admin"));
  CHECK_THAT(error_of(kEntry + "scopes = []\n"), Contains("read, triage, measure"));
  CHECK_THAT(error_of(kEntry + "scopes = [\"read\", \"read\"]\n"), Contains("twice"));
}

TEST_CASE("two entries that trust the same workflow are refused") {
  const auto once = kEntry + "scopes = [\"measure\"]\n";
  CHECK_THAT(error_of(once + once.substr(once.find("[[web.oidc]]"))), Contains("is there twice"));
}

TEST_CASE(
    "builds by a workflow need the repository that has it, and a path with that name is a recipe") {
  CHECK_THAT(error_of("[build]\nrecipe = \"actions\"\n"), Contains("[actions] repository"));
  const auto config = loaded("[build]\nrecipe = \"actions\"\n[actions]\nrepository = \"a/b\"\n");
  REQUIRE(config);
  CHECK(is_built_by_actions(*config));
  const auto path = loaded("[build]\nrecipe = \"./actions\"\n");
  REQUIRE(path);
  CHECK_FALSE(is_built_by_actions(*path));
  CHECK(path->build.recipe.is_absolute());
}
