// When issues are filed, and whom they reach.
#include <algorithm>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/config/effective.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using Catch::Contains;

namespace {

Result<Config> read(const std::string& text) {
  const test::TemporaryFolder folder;
  return load(folder.write("torchwatch.toml", text), true);
}

std::string error_of(const std::string& text) {
  const auto result = read(text);
  REQUIRE_FALSE(result);
  return result.error().text();
}

}  // namespace

TEST_CASE("owners are tables of their own, each with what is owned and whom to notify") {
  const auto config = read(
      "[github]\nfile_when = \"at_once\"\n"
      "[[github.owners]]\npaths = [\"aten/**\"]\nnotify = [\"ada\", \"pytorch/linalg\"]\n"
      "[[github.owners]]\nworkloads = [\"dlrm\"]\nnotify = [\"bob\"]\n");
  REQUIRE(config);
  CHECK(config->github.file_when == FileWhen::at_once);
  CHECK(config->github.owners ==
        std::vector<Owner>{{.paths = {"aten/**"}, .notify = {"ada", "pytorch/linalg"}},
                           {.workloads = {"dlrm"}, .notify = {"bob"}}});
}

TEST_CASE("owners as they are shown can be read again") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("torchwatch.toml",
                                 "[[github.owners]]\npaths = [\"a/*.cpp\"]\nnotify = [\"ada\"]\n");
  const auto values = effective_values(file, true).value();
  const auto owners = std::find_if(values.begin(), values.end(), [](const auto& value) {
    return value.key.table == "github" && value.key.name == "owners";
  });
  REQUIRE(owners != values.end());
  CHECK(owners->value == R"([{paths = ["a/*.cpp"], notify = ["ada"]}])");
  const auto again = read("[github]\nowners = " + owners->value + "\n");
  REQUIRE(again);
  CHECK(again->github.owners == load(file, true).value().github.owners);
}

TEST_CASE("a table of an owner that cannot be meant is refused with its line and what is wrong") {
  const std::string good = "[[github.owners]]\nworkloads = [\"dlrm\"]\nnotify = [\"ada\"]\n";
  CHECK_THAT(
      error_of(good + "[[github.owners]]\npath = [\"a\"]\nnotify = [\"ada\"]\n"),
      Contains("line 4") && Contains("path: unknown key") && Contains("did you mean paths?"));
  CHECK_THAT(error_of("[[github.owners]]\nnotify = [\"ada\"]\n"),
             Contains("paths, workloads: one of them"));
  CHECK_THAT(error_of("[[github.owners]]\npaths = [\"a\"]\n"), Contains("notify is missing"));
  CHECK_THAT(error_of("[[github.owners]]\npaths = [\"a\"]\nnotify = []\n"),
             Contains("notify: invalid value []: must be one or more logins"));
  CHECK_THAT(error_of("[[github.owners]]\npaths = [\"a\"]\nnotify = [\"@ada\"]\n"),
             Contains("without @"));
  CHECK_THAT(error_of("[[github.owners]]\npaths = [\"/a\"]\nnotify = [\"ada\"]\n"),
             Contains("paths: invalid value [\"/a\"]: must be paths below"));
  CHECK_THAT(error_of("[[github.owners]]\npaths = \"a\"\nnotify = [\"ada\"]\n"),
             Contains("paths: ") && Contains("list of strings"));
  CHECK_THAT(error_of("[github]\nowners = [\"ada\"]\n"), Contains("[[github.owners]]"));
  CHECK_THAT(error_of("[github]\nowners = \"ada\"\n"), Contains("[[github.owners]]"));
  CHECK_THAT(error_of("[[github]]\nlabels = []\n"), Contains("github: is a table"));
}

TEST_CASE("when issues are filed is one of three words") {
  CHECK_THAT(error_of("[github]\nfile_when = \"never\"\n"),
             Contains("must be one of searched, named, at_once"));
  CHECK_THAT(error_of("[github]\nissues_per_night = 0\n"), Contains("1 to 1000"));
}

TEST_CASE("the repository of commits is where they are linked, on the server of the API") {
  CHECK(commits_repository(*read("[github]\ncommits = \"pytorch/pytorch\"\n")) ==
        "pytorch/pytorch");
  CHECK(commits_repository(
            *read("[source]\nrepository = \"https://github.com/pytorch/pytorch.git\"\n")) ==
        "pytorch/pytorch");
  CHECK(commits_repository(*read("[source]\nrepository = \"https://git.example/a/b\"\n")).empty());
  CHECK(commits_repository(*read("[github]\napi = \"https://ghe.example/api/v3\"\n"
                                 "[source]\nrepository = \"https://github.com/a/b\"\n"))
            .empty());
}
