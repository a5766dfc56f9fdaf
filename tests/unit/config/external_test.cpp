#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/config/effective.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using Catch::Contains;
using torchwatch::test::TemporaryFolder;

namespace {

std::string table(const std::string& name, const std::string& command, const std::string& metrics,
                  const std::string& more = "") {
  return "[[suite.external]]\nname = \"" + name + "\"\ncommand = " + command +
         "\nmetrics = " + metrics + "\n" + more;
}

std::string error_of(const std::string& text) {
  const TemporaryFolder folder;
  const auto result = load(folder.write("torchwatch.toml", text), true);
  REQUIRE_FALSE(result.has_value());
  return result.error().text();
}

}  // namespace

TEST_CASE("an external workload has its command from the file's folder, and the rest by default") {
  const TemporaryFolder folder;
  const auto file = folder.write(
      "torchwatch.toml", table("mlp", R"(["/usr/bin/python3", "./models/mlp.py", "--width=4"])",
                               R"(["time"])", "modes = [\"train\"]\nreadable = [\"models\"]\n") +
                             table("other", R"(["bin/other"])", R"(["time", "heap_growth"])"));
  const auto config = load(file, true);
  if (!config) FAIL(config.error().text());
  const auto& externals = config->suite.externals;
  REQUIRE(externals.size() == 2);
  CHECK(externals[0].command == std::vector<std::string>{"/usr/bin/python3",
                                                         (folder.path() / "models/mlp.py").string(),
                                                         "--width=4"});
  CHECK(externals[0].modes == std::vector{Mode::train});
  CHECK(externals[0].readable == std::vector{folder.path() / "models"});
  CHECK(externals[1].command.front() == (folder.path() / "bin/other").string());
  CHECK(externals[1].device == Device::cpu);
  CHECK(externals[1].modes == std::vector{Mode::train, Mode::infer});
  CHECK(externals[1].metrics == std::vector{Metric::time, Metric::heap_growth});
}

TEST_CASE("what is wrong with an external workload is said with its place") {
  const std::string command = R"(["/bin/mlp"])";
  CHECK_THAT(error_of(table("m", R"(["python3"])", R"(["time"])")),
             Contains("command: ") && Contains("a program's path"));
  CHECK_THAT(error_of(table("m", command, R"(["speed"])")), Contains("speed"));
  CHECK_THAT(error_of(table("m", command, "[]")), Contains("metrics: ") && Contains("one or more"));
  CHECK_THAT(error_of(table("m", command, R"(["device_time"])")),
             Contains("metrics: device_time is not measured on cpu"));
  CHECK_THAT(error_of(table("m", command, R"(["device_time"])", "device = \"cuda\"\n")),
             Contains("metrics: device_time needs time beside it"));
  CHECK_THAT(error_of(table("m", command, R"(["output_difference", "output_difference"])")),
             Contains("output_difference, each once"));
  CHECK_THAT(error_of(table("m", command, R"(["time", "throughput"])")),
             Contains("throughput\" is shown beside time and not judged"));
  CHECK_THAT(error_of(table("a b", command, R"(["time"])")), Contains("name: "));
  CHECK_THAT(error_of(table("m", command, R"(["time"])", "mode = \"train\"\n")),
             Contains("mode: unknown key"));
  CHECK_THAT(error_of(table("m", command, R"(["time"])") + table("m", command, R"(["time"])")),
             Contains("is there twice"));
}
