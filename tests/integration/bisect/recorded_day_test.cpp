#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "skipped.hpp"
#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/history/commit_history.hpp"

using namespace torchwatch;
using namespace torchwatch::bisect;
using torchwatch::test::TemporaryFolder;
using torchwatch::test::TestCommit;
using torchwatch::test::TestRepository;
namespace fs = std::filesystem;

namespace {

/// The fields of one line of RFC 4180 (no line breaks within fields).
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

std::int64_t seconds_of(const std::string& utc) {
  std::tm time = {};
  REQUIRE(strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) != nullptr);
  return timegm(&time);
}

std::vector<TestCommit> commits_of(const fs::path& csv) {
  std::ifstream file(csv);
  std::string line;
  std::getline(file, line);
  std::vector<TestCommit> commits;
  while (std::getline(file, line)) {
    const auto fields = fields_of(line);
    REQUIRE(fields.size() == 4);
    TestCommit commit;
    commit.subject = fields[3];
    commit.committer_time = seconds_of(fields[2]);
    commit.author_time = commit.committer_time - 3600 * (1 + 7 * commits.size() % 5);
    commit.files["src/changed.cpp"] = fields[0];
    commits.push_back(commit);
  }
  return commits;
}

/// A day rebuilt as a repository reads back in the order in which it was recorded.
void check_day(const fs::path& csv) {
  CAPTURE(csv.string());
  TemporaryFolder folder;
  TestRepository repository(folder.path() / "source.git");
  const auto start = repository.commit("start");
  const auto day = commits_of(csv);
  REQUIRE_FALSE(day.empty());
  std::vector<std::string> made;
  for (const auto& commit : day) made.push_back(repository.commit(commit));
  const auto history = CommitHistory::open(repository.path()).value();
  const auto range = history.range(start, "main").value();
  REQUIRE(range.size() == day.size());
  for (std::size_t i = 0; i < day.size(); ++i) {
    REQUIRE(range[i].sha == made[i]);
    REQUIRE(range[i].committer_time == day[i].committer_time);
    REQUIRE(range[i].author_time == *day[i].author_time);
    if (!day[i].subject.empty())
      REQUIRE(day[i].subject.find(range[i].subject) != std::string::npos);
  }
  REQUIRE(history.position(made.back(), "main").value() == static_cast<std::int64_t>(day.size()));
}

}  // namespace

TEST_CASE("a day with a stack of equal timestamps reads back in its order") {
  check_day(fs::path(TORCHWATCH_SOURCE_DIR) / "tests/integration/bisect/stacked_day.csv");
}

TEST_CASE("real days of pytorch/pytorch read back in their order") {
  const fs::path days = fs::path(TORCHWATCH_SOURCE_DIR) / "../shared/reference/pytorch-commits";
  if (!fs::is_directory(days)) {
    test::say_skipped("reference data not at hand");
    return;
  }
  for (const auto* day : {"2022-02-19.csv", "2021-11-05.csv", "2022-07-27.csv"}) {
    check_day(days / day);
  }
}
