#include "torchwatch/commands/command.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "temporary_folder.hpp"
#include "torchwatch/commands/selection_options.hpp"

using namespace torchwatch;

TEST_CASE("a command that measures says when the defaults are used, other commands do not") {
  std::ostringstream out;
  std::ostringstream err;
  commands::Invocation invocation{.out = out, .err = err, .stop = {}};
  invocation.config_file = "/nonexistent/torchwatch.toml";
  REQUIRE(invocation.load_config());
  CHECK(err.str().empty());
  REQUIRE(invocation.load_config_to_measure());
  CHECK(err.str() == "there is no torchwatch.toml here, so the defaults are used\n");
  CHECK(out.str().empty());
}

TEST_CASE("a document with bytes that are no UTF-8 is printed") {
  std::ostringstream out;
  std::ostringstream err;
  commands::print_json({.out = out, .err = err, .stop = {}},
                       nlohmann::json{{"reason", "\xff\xfe"}});
  CHECK(nlohmann::json::parse(out.str())["reason"] == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("what was probably meant in a configuration is its remedy, with how to test the file") {
  const test::TemporaryFolder folder;
  std::ostringstream out;
  std::ostringstream err;
  commands::Invocation invocation{.out = out, .err = err, .stop = {}};
  invocation.config_given = true;
  const auto error_of = [&](const std::string& text) {
    invocation.config_file = folder.write("torchwatch.toml", text);
    return invocation.load_config().error();
  };
  const auto file = (folder.path() / "torchwatch.toml").string();
  const auto hint =
      "`torchwatch check --config " + file + "` tests the configuration without measuring";

  const auto one = error_of("[bulid]\njobs = 2\n");
  CHECK(one.message == file + ":1: [bulid]: unknown table");
  CHECK_THAT(one.remedy,
             Catch::StartsWith("did you mean [build]? tables: ") && Catch::EndsWith("\n" + hint));

  const auto two = error_of("[bulid]\n[stroage]\n");
  CHECK_THAT(two.message, Catch::Contains("did you mean [build]?") &&
                              Catch::Contains("\n" + file + ":2: [stroage]: unknown table; "));
  CHECK(two.remedy == hint);
  CHECK(two.text() == two.message + "\n" + hint);
}

TEST_CASE(
    "the option --metric names every metric that gets verdicts, and none that is shown beside "
    "one") {
  CHECK(commands::judged_metrics() ==
        "time, device_time, cpu_peak, device_peak, cpu_peak_resident, device_peak_total, "
        "leak_growth, leak_retained, heap_growth, output_difference");
}
