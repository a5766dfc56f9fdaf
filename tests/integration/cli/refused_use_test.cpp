// What a command refuses, in this process: each refusal says what is wrong and what to do.
#include <fstream>

#include "stored_command_line.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;
using test::CommandLine;
using CommandWords = std::vector<std::string>;

namespace {

/// What an unfinished command line says, and that it is wrong use.
std::string refusal(const CommandLine& line, const CommandWords& words) {
  const auto printed = line.run(words);
  CHECK(printed.status == 2);
  CHECK(printed.out.empty());
  return printed.err;
}

}  // namespace

TEST_CASE("where no database is a change makes none") {
  const CommandLine line;
  for (const auto& words :
       {CommandWords{"token", "create", "ci"}, CommandWords{"database", "gc"}}) {
    CHECK_THAT(refusal(line, words), Contains("no database at ") && Contains("`serve` makes it"));
  }
  CHECK_FALSE(std::filesystem::exists(line.folder.path() / "db.sqlite"));
  const auto error = json::parse(line.run({"token", "create", "ci", "--json"}).out);
  CHECK_THAT(error.at("error").at("remedy").get<std::string>(), Contains("`serve` makes it"));
}

TEST_CASE("what is not stored is refused with the command that lists what is") {
  const CommandLine line;
  line.store_incident();
  for (const std::string noun : {"incident", "comparison", "bisection", "machine"}) {
    CHECK_THAT(refusal(line, {noun, "show", "99"}),
               Contains(noun + " 99 is not stored; `torchwatch " + noun + " list` lists them"));
  }
  CHECK_THAT(refusal(line, {"request", "cancel", "99"}), Contains("`torchwatch request list`"));
  CHECK_THAT(refusal(line, {"mute", "lift", "99"}), Contains("`torchwatch mute list`"));
  CHECK_THAT(refusal(line, {"outbox", "retry", "none"}), Contains("`torchwatch outbox list`"));
}

TEST_CASE("options that mean nothing together are refused") {
  const CommandLine line;
  line.store_incident();
  CHECK_THAT(refusal(line, {"database", "export", "verdicts", "--incident", "1"}),
             Contains("--incident goes with `database export evidence` alone"));
  CHECK_THAT(refusal(line, {"compare", "a"}), Contains("CANDIDATE is missing"));
  CHECK_THAT(refusal(line, {"compare"}), Contains("BASELINE and CANDIDATE are missing"));
  line.folder.write("torchwatch.toml",
                    "[storage]\npath = \"db.sqlite\"\n[[suite.external]]\nname = \"mine\"\n"
                    "command = [\"./mine\"]\nmetrics = [\"time\"]\n");
  CHECK_THAT(refusal(line, {"workload", "verify", "mine", "--device", "cuda"}),
             Contains("\"mine\" runs on cpu") && Contains("leave out --device"));
}

TEST_CASE("a configuration in a folder that is missing is refused by that folder") {
  const test::TemporaryFolder folder;
  const auto printed = test::run_command({"init"}, folder.path() / "nofolder/new.toml");
  CHECK(printed.status == 2);
  CHECK_THAT(printed.err, Contains("there is no folder " + (folder.path() / "nofolder").string()) &&
                              !Contains(".partial"));
}

TEST_CASE("evidence is not exported into a folder that exists") {
  const CommandLine line;
  line.store_incident();
  const auto out = line.folder.path() / "evidence";
  std::filesystem::create_directory(out);
  CHECK_THAT(refusal(line, {"database", "export", "evidence", "--incident", "1", "--out", out}),
             Contains("exists already: choose another name"));
}

TEST_CASE("the kind of a request is one word, in the table and in JSON") {
  const CommandLine line;
  {
    const auto database = line.open();
    const json body{{"candidate", "b"}, {"baseline", "a"}};
    REQUIRE(RequestStore(*database).receive("1", RequestKind::nightly, body.dump(), 1));
    REQUIRE(RequestStore(*database).receive("2", RequestKind::nightly, "{}", 1));
  }
  const auto listed = [&](const CommandWords& more) {
    CommandWords words{"request", "list", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(line.run(words).out).at("items");
  };
  CHECK(listed({}).at(0).at("kind") == "nightly");
  CHECK(listed({}).at(1).at("kind") == "comparison");
  CHECK(listed({"--kind", "comparison"}).size() == 1);
  CHECK(listed({"--kind", "nightly"}).size() == 2);  // what both were called before
}
