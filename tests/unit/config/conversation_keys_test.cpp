#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/config/config.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using namespace std::chrono_literals;

namespace {

Result<Config> load_text(const std::string& text) {
  const test::TemporaryFolder folder;
  return load(folder.write("torchwatch.toml", text), true);
}

Config loaded(const std::string& text) {
  const auto result = load_text(text);
  if (!result) FAIL(result.error().text());
  return *result;
}

std::string error_of(const std::string& text) {
  const auto result = load_text(text);
  REQUIRE_FALSE(result.has_value());
  return result.error().text();
}

}  // namespace

TEST_CASE("a table below another is read, and its errors name it") {
  const auto config =
      loaded("[github]\npoll = \"10m\"\n[github.commands]\nbisect = [\"maintain\"]\n");
  CHECK(config.github.poll == 10min);
  CHECK(config.commands.bisect == std::vector<std::string>{"maintain"});
  CHECK(config.commands.ack == std::vector<std::string>{"admin", "write"});
  CHECK_THAT(
      error_of("[github.commands]\nbisekt = []\n"),
      Catch::Contains("torchwatch.toml:2: [github.commands] bisekt: unknown key; did you mean "
                      "\"bisect\"?"));
  CHECK_THAT(error_of("[github.commands]\nbisect = [\"owner\"]\n"),
             Catch::Contains("must be admin, maintain, write, triage, read, each once"));
  CHECK_THAT(error_of("[github.comands]\nbisect = []\n"), Catch::Contains("comands"));
}

TEST_CASE("a command begins with a slash or a mention") {
  for (const auto* prefix : {"/", "/tw-", "@torchwatch "}) {
    CHECK(loaded("[github]\ncommand_prefix = \"" + std::string(prefix) + "\"\n")
              .github.command_prefix == prefix);
  }
  for (const auto* prefix : {"", "@", "tw ", "/ ", "> ", "/a b "}) {
    CHECK_THAT(error_of("[github]\ncommand_prefix = \"" + std::string(prefix) + "\"\n"),
               Catch::Contains("[github] command_prefix: invalid value"));
  }
}

TEST_CASE("comments have commands where somebody reads them") {
  Config config;
  CHECK(heard_command_prefix(config).empty());
  config.github.repository = "pytorch/pytorch";
  CHECK(heard_command_prefix(config) == "/");
  config.github.command_prefix = "/tw-";
  CHECK(heard_command_prefix(config) == "/tw-");
  config.github.poll = 0s;
  CHECK(heard_command_prefix(config).empty());
  config.github.webhook_secret_file = "webhook-secret";
  CHECK(heard_command_prefix(config) == "/tw-");
}
