// What --format prints: the same text as the pages and the issues have.
#include <httplib.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "beside_daemon.hpp"
#include "stored_command_line.hpp"

using namespace torchwatch;
using Catch::Contains;
using test::CommandLine;

namespace {

const std::vector<std::vector<std::string>> kShown{
    {"comparison", "show", "1"}, {"incident", "show", "1"}, {"bisection", "show", "1"}};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string page(const std::filesystem::path& socket, const std::string& path) {
  httplib::Client client(socket.string());
  client.set_address_family(AF_UNIX);
  const auto reply = client.Get(path.c_str(), {{"Host", "localhost"}});
  REQUIRE(reply);
  CHECK(reply->status == 200);
  return reply->body;
}

}  // namespace

TEST_CASE("a format says what --json and nothing say, and Markdown is another text") {
  const CommandLine line;
  line.store_culprit();
  for (const auto& shown : kShown) {
    INFO(shown[0]);
    const auto table = line.run(shown);
    const auto json = line.run(with(shown, {"--json"}));
    CHECK(line.run(with(shown, {"--format", "table"})).out == table.out);
    CHECK(line.run(with(shown, {"--format", "json"})).out == json.out);
    CHECK(line.run(with(shown, {"--json", "--format=json"})).out == json.out);
    const auto markdown = line.run(with(shown, {"--format", "markdown"}));
    CHECK(markdown.err.empty());
    CHECK(markdown.status == table.status);
    CHECK_THAT(markdown.out, Catch::StartsWith("# "));
    CHECK(markdown.out != table.out);
  }
}

TEST_CASE("formats that contradict each other, and unknown ones, are wrong use") {
  const CommandLine line;
  line.store_culprit();
  const auto both = line.run({"comparison", "show", "--json", "--format", "table"});
  CHECK(both.status == 2);
  CHECK(nlohmann::json::parse(both.out).at("error").at("message") ==
        "--json is --format json, and --format is table");
  const auto unknown = line.run({"comparison", "show", "--format", "html"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("\"html\" is not table, markdown or json"));
  const auto events = line.run({"nightly", "--events", "--format", "markdown"});
  CHECK(events.status == 2);
  CHECK_THAT(events.err, Contains("--events lines while it works"));
  const auto former = line.run({"incident", "show", "1", "--markdown"});
  CHECK(former.status == 2);
  CHECK_THAT(former.err, Contains("--markdown is --format markdown now"));
}

TEST_CASE("Markdown on the command line is the page's own beside a daemon") {
  const test::Place place;
  const test::DaemonProcess daemon(place.file, place.socket());
  const auto printed = place.run({"comparison", "show", "1", "--format", "markdown"});
  CHECK(printed.out == page(place.socket(), "/comparisons/1.md"));
}
