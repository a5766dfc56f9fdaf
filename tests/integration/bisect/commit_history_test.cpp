#include "torchwatch/history/commit_history.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "temporary_folder.hpp"
#include "test_repository.hpp"

using namespace torchwatch;
using namespace torchwatch::bisect;
using torchwatch::test::TemporaryFolder;
using torchwatch::test::TestCommit;
using torchwatch::test::TestRepository;

namespace {

std::vector<std::string> shas(const std::vector<Commit>& commits) {
  std::vector<std::string> result;
  for (const auto& commit : commits) result.push_back(commit.sha);
  return result;
}

/// A repository and the history that is read from it.
struct Fixture {
  TemporaryFolder folder;
  TestRepository repository{folder.path() / "source.git"};
  CommitHistory history() const { return CommitHistory::open(repository.path()).value(); }
};

}  // namespace

TEST_CASE("a repository opens bare, with a worktree, and as a .git folder") {
  TemporaryFolder folder;
  TestRepository bare(folder.path() / "bare.git");
  TestRepository full(folder.path() / "full", false);
  const auto sha = full.commit("one");
  REQUIRE(CommitHistory::open(bare.path()).has_value());
  REQUIRE(CommitHistory::open(full.path()).value().resolve("main").value() == sha);
  REQUIRE(CommitHistory::open(full.path() / ".git").value().resolve("HEAD").value() == sha);
}

TEST_CASE(
    "a missing folder and a folder without a repository give different errors, each by name") {
  TemporaryFolder folder;
  const auto missing = CommitHistory::open(folder.path() / "nowhere").error();
  REQUIRE(missing.code == ErrorCode::not_found);
  REQUIRE_THAT(missing.message, Catch::Contains("nowhere does not exist"));
  const auto empty = CommitHistory::open(folder.path()).error();
  REQUIRE(empty.code == ErrorCode::not_found);
  REQUIRE_THAT(empty.message, Catch::Contains("is not a git repository"));
}

TEST_CASE_METHOD(Fixture, "any revision syntax resolves") {
  const auto one = repository.commit("one");
  const auto two = repository.commit("two");
  for (const auto& revision : {std::string("main"), std::string("HEAD"), two, two.substr(0, 10),
                               std::string("refs/heads/main")}) {
    REQUIRE(history().resolve(revision).value() == two);
  }
  REQUIRE(history().resolve("main~1").value() == one);
  REQUIRE(history().parent("main").value() == one);
}

TEST_CASE_METHOD(Fixture, "an unknown revision is not found and named") {
  repository.commit("one");
  for (const std::string revision :
       {"no-such-branch", "0123456789012345678901234567890123456789"}) {
    const auto error = history().resolve(revision).error();
    REQUIRE(error.code == ErrorCode::not_found);
    REQUIRE_THAT(error.message, Catch::Contains(revision));
  }
}

TEST_CASE_METHOD(Fixture, "an ambiguous short sha is refused and named") {
  std::map<std::string, std::string> first_with;
  std::string ambiguous;
  for (int i = 0; ambiguous.empty(); ++i) {
    const auto sha = repository.commit("commit" + std::to_string(i));
    const auto [seen, is_new] = first_with.emplace(sha.substr(0, 4), sha);
    if (!is_new) ambiguous = sha.substr(0, 4);
    REQUIRE(i < 5000);
  }
  const auto error = history().resolve(ambiguous).error();
  REQUIRE(error.code == ErrorCode::invalid);
  REQUIRE_THAT(error.message, Catch::Contains(ambiguous) && Catch::Contains("hex digits or more"));
  REQUIRE_THAT(history().resolve("33d").error().message,
               Catch::Contains("name 4 hex digits or more"));
}

TEST_CASE_METHOD(Fixture, "text that is not a revision, and a file's name, are refused") {
  repository.commit("one");
  REQUIRE_FALSE(history().resolve("").has_value());
  REQUIRE_FALSE(history().resolve("a..b").has_value());
  REQUIRE(history().resolve("main:src").error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Fixture, "a commit's facts are read as they were written") {
  repository.commit("one");
  TestCommit wanted;
  wanted.subject = "Speed up addmm (#1)\n\nBecause.";
  wanted.files = {{"src/one.cpp", std::nullopt}, {"aten/two.cpp", "x"}, {"docs/a b.md", "y"}};
  wanted.committer_time = 1'650'000'000;
  wanted.author_time = 1'640'000'000;
  const auto sha = repository.commit(wanted);
  const auto commit = history().commit(sha).value();
  REQUIRE(commit.sha == sha);
  REQUIRE(commit.subject == "Speed up addmm (#1)");
  REQUIRE(commit.author_name == "A Developer");
  REQUIRE(commit.author_email == "developer@example.org");
  REQUIRE(commit.author_time == 1'640'000'000);
  REQUIRE(commit.committer_time == 1'650'000'000);
  REQUIRE(commit.parents == std::vector<std::string>{history().parent(sha).value()});
  REQUIRE(commit.changed_paths ==
          std::vector<std::string>{"aten/two.cpp", "docs/a b.md", "src/one.cpp"});
}

TEST_CASE_METHOD(Fixture, "an author whose name is no UTF-8 is printable") {
  TestCommit wanted;
  wanted.subject = "one";
  wanted.author = "Andr\xe9";
  CHECK(history().commit(repository.commit(wanted)).value().author_name == "Andr?");
}

TEST_CASE_METHOD(Fixture, "a root commit has its files as changed paths and no parent") {
  const auto sha = repository.commit("one");
  REQUIRE(history().commit(sha).value().changed_paths == std::vector<std::string>{"src/one.cpp"});
  REQUIRE(history().parent(sha).error().code == ErrorCode::invalid);
}

TEST_CASE_METHOD(Fixture, "a nightly's commit leads to the trunk commit that its subject names") {
  const auto trunk = repository.commit("one");
  repository.commit("two");
  TestCommit nightly;
  nightly.branch = "nightly";
  nightly.subject = "2026-08-01 nightly release (" + trunk + ")";
  const auto sha = repository.commit(nightly);
  REQUIRE(history().trunk_commit(sha).value() == trunk);
  REQUIRE(history().trunk_commit("nightly").value() == trunk);
  REQUIRE(history().trunk_commit("main").value() == history().resolve("main").value());

  nightly.subject = "2026-08-02 nightly release (" + std::string(40, 'a') + ")";
  repository.commit(nightly);
  const auto error = history().trunk_commit("nightly").error();
  REQUIRE(error.code == ErrorCode::not_found);
  REQUIRE_THAT(error.message, Catch::Contains("2026-08-02") && Catch::Contains("aaaa"));
}

TEST_CASE_METHOD(Fixture, "a range leaves out good, includes bad, and is oldest first") {
  std::vector<std::string> made;
  for (const auto* name : {"a", "b", "c", "d", "e"}) made.push_back(repository.commit(name));
  const auto range = history().range(made[1], "main").value();
  REQUIRE(shas(range) == std::vector<std::string>(made.begin() + 2, made.end()));
  REQUIRE(range.front().subject == "c");
}

TEST_CASE_METHOD(Fixture, "a range is counted up to a number of commits") {
  std::vector<std::string> made;
  for (const auto* name : {"a", "b", "c", "d", "e"}) made.push_back(repository.commit(name));
  CHECK(history().count(made[1], "main", 3).value() == 3);
  CHECK(history().count("main", made[4], 0).value() == 0);
  // Too far back, and the other way round.
  CHECK(history().count(made[1], "main", 2).value() == std::nullopt);
  CHECK(history().count("main", made[1], 100).value() == std::nullopt);
  CHECK(history().count("nothing", "main", 100).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Fixture, "equal and backward times do not disturb the order of a range") {
  std::vector<std::string> made{repository.commit("start")};
  for (int i = 0; i < 60; ++i) {
    TestCommit wanted;
    wanted.subject = "commit " + std::to_string(i);
    wanted.files["f"] = std::to_string(i);
    wanted.committer_time = 1'600'000'000 + (i < 30 ? 0 : 10 - i);  // a stack, then a wrong clock
    wanted.author_time = 1'600'000'000 - 1000 * i;
    made.push_back(repository.commit(wanted));
  }
  REQUIRE(shas(history().range(made.front(), "main").value()) ==
          std::vector<std::string>(made.begin() + 1, made.end()));
}

TEST_CASE_METHOD(Fixture, "a merge is one candidate and its branch's commits are none") {
  const auto start = repository.commit("start");
  TestCommit side;
  side.branch = "side";
  side.parents = {start};
  side.subject = "side";
  side.files["side.cpp"] = "x";
  const auto on_side = repository.commit(side);
  const auto on_main = repository.commit("main");
  TestCommit merge;
  merge.subject = "Merge side";
  merge.parents = {on_main, on_side};
  merge.files["side.cpp"] = "x";
  const auto merged = repository.commit(merge);
  const auto range = history().range(start, merged).value();
  REQUIRE(shas(range) == std::vector<std::string>{on_main, merged});
  REQUIRE(range.back().changed_paths == std::vector<std::string>{"side.cpp"});
  REQUIRE(range.back().parents.size() == 2);
  CHECK(history().count(start, merged, 100).value() == 2);
  CHECK(history().count(on_side, merged, 100).value() == std::nullopt);

  const auto error = history().range(on_side, merged).error();
  REQUIRE(error.code == ErrorCode::invalid);
  REQUIRE_THAT(error.message, Catch::Contains("by a merge"));
}

TEST_CASE_METHOD(Fixture, "an empty, a reversed and a foreign range say what to do") {
  const auto one = repository.commit("one");
  const auto two = repository.commit("two");
  TestCommit other;
  other.branch = "other";
  other.parents = {one};
  other.subject = "other";
  other.files["x"] = "y";
  const auto elsewhere = repository.commit(other);
  TestCommit unrelated;
  unrelated.branch = "unrelated";
  unrelated.subject = "unrelated";
  unrelated.files["x"] = "z";
  const auto foreign = repository.commit(unrelated);

  const auto message = [&](const std::string& good, const std::string& bad) {
    const auto error = history().range(good, bad).error();
    REQUIRE(error.code == ErrorCode::invalid);
    return error.text();
  };
  REQUIRE_THAT(message(two, "main"), Catch::Contains("same commit"));
  REQUIRE_THAT(message(two, one), Catch::Contains("reversed") && Catch::Contains("swap"));
  REQUIRE_THAT(message(elsewhere, two), Catch::Contains("different branches"));
  REQUIRE_THAT(message(foreign, two), Catch::Contains("different branches"));
  REQUIRE(history().range("nothing", two).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Fixture, "positions on a branch count up and stay when it grows") {
  const auto one = repository.commit("one");
  const auto two = repository.commit("two");
  REQUIRE(history().position(one, "main").value() == 0);
  REQUIRE(history().position(two, "main").value() == 1);
  repository.commit("three");
  REQUIRE(history().position(two, "main").value() == 1);
  REQUIRE(history().position("main", "main").value() == 2);
  TestCommit other;
  other.branch = "other";
  other.parents = {one};
  other.subject = "other";
  const auto elsewhere = repository.commit(other);
  REQUIRE(history().position(elsewhere, "main").error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Fixture, "a second look at positions reads no commit again, and a third the new") {
  std::vector<std::string> made;
  for (int i = 0; i < 20; ++i) made.push_back(repository.commit("commit " + std::to_string(i)));
  const auto kept = history();
  for (std::size_t i = 0; i < made.size(); ++i) {
    REQUIRE(kept.position(made[i], "main").value() == static_cast<std::int64_t>(i));
  }
  REQUIRE(kept.commits_read() == 20);
  const auto newest = repository.commit("newest");
  REQUIRE(kept.position(newest, "main").value() == 20);
  REQUIRE(kept.position(made[3], "main").value() == 3);
  REQUIRE(kept.commits_read() == 21);
}

TEST_CASE_METHOD(Fixture, "positions follow a branch that was moved to other commits") {
  const auto one = repository.commit("one");
  const auto two = repository.commit("two");
  const auto kept = history();
  REQUIRE(kept.position(two, "main").value() == 1);
  TestCommit other;
  other.subject = "instead of two";
  other.parents = {one};
  const auto instead = repository.commit(other);
  REQUIRE(kept.position(instead, "main").value() == 1);
  REQUIRE(kept.position(two, "main").error().code == ErrorCode::not_found);
  REQUIRE(kept.position(one, "main").value() == 0);
}

TEST_CASE_METHOD(Fixture, "two histories of one repository read side by side") {
  const auto one = repository.commit("one");
  const auto first = history();
  auto second = history();
  second = history();
  REQUIRE(first.resolve("main").value() == second.resolve(one).value());
}
