#include <catch2/catch.hpp>
#include <fstream>

#include "file_content.hpp"
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

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

struct Fixture {
  TemporaryFolder folder;
  TestRepository repository{folder.path() / "source.git"};
  CommitHistory history() const { return CommitHistory::open(repository.path()).value(); }

  std::string change(const std::string& subject, const std::string& path,
                     const std::string& content) {
    TestCommit wanted;
    wanted.subject = subject;
    wanted.files[path] = content;
    return repository.commit(wanted);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a checkout writes exactly the commit's files and nothing elsewhere") {
  const auto one = change("one", "a/b/c.cpp", "one\r\n");
  change("two", "a/b/c.cpp", "two");
  change("three", "new.cpp", "three");
  const auto before = entries(repository.path());
  const auto target = folder.path() / "made";
  REQUIRE(history().checkout(one, target).has_value());
  REQUIRE(torchwatch::test::content_of(target / "a/b/c.cpp") == "one\r\n");
  REQUIRE(entries(target) == 1);
  REQUIRE(entries(folder.path()) == 2);
  REQUIRE(entries(repository.path()) == before);
}

TEST_CASE_METHOD(Fixture, "a checkout works into an empty folder, and beside a worktree's files") {
  TestRepository full(folder.path() / "full", false);
  TestCommit wanted;
  wanted.subject = "one";
  wanted.files["f"] = "content";
  full.commit(wanted);
  std::ofstream(full.path() / "f") << "edited by its owner";
  const auto target = folder.path() / "made/";
  fs::create_directory(target);
  REQUIRE(CommitHistory::open(full.path()).value().checkout("main", target).has_value());
  REQUIRE(torchwatch::test::content_of(target / "f") == "content");
  REQUIRE(torchwatch::test::content_of(full.path() / "f") == "edited by its owner");
}

TEST_CASE_METHOD(Fixture, "a checkout needs neither HEAD nor its branch") {
  TestCommit wanted;
  wanted.branch = "elsewhere";  // HEAD points to main, which does not exist
  wanted.subject = "one";
  wanted.files["f"] = "content";
  const auto sha = repository.commit(wanted);
  REQUIRE(history().checkout(sha, folder.path() / "made").has_value());
  REQUIRE(torchwatch::test::content_of(folder.path() / "made/f") == "content");
}

TEST_CASE_METHOD(Fixture, "a checkout into a folder in use is refused and leaves it alone") {
  const auto sha = change("one", "f", "content");
  const auto target = folder.path() / "made";
  fs::create_directory(target);
  std::ofstream(target / "mine") << "x";
  REQUIRE(history().checkout(sha, target).error().code == ErrorCode::conflict);
  REQUIRE(entries(target) == 1);
}

TEST_CASE_METHOD(Fixture, "a checkout of a commit whose files are missing makes no folder") {
  const auto sha = change("one", "f", "content");
  fs::remove_all(repository.path() / "objects");
  fs::create_directory(repository.path() / "objects");
  REQUIRE_FALSE(history().checkout(sha, folder.path() / "made").has_value());
  REQUIRE(entries(folder.path()) == 1);
  REQUIRE_FALSE(history().checkout("unknown", folder.path() / "made").has_value());
  REQUIRE(entries(folder.path()) == 1);
}

TEST_CASE_METHOD(Fixture, "a checkout that loses a file half-way fails") {
  TestCommit wanted;
  wanted.subject = "two files";
  wanted.files = {{"a", "first"}, {"b", "second"}};
  const auto sha = repository.commit(wanted);
  // The id of the blob "second" begins with these two digits; "first" is written before it.
  REQUIRE(fs::remove_all(repository.path() / "objects" / "21") > 0);
  REQUIRE_FALSE(history().checkout(sha, folder.path() / "made").has_value());
}

TEST_CASE_METHOD(Fixture, "a revert undoes one commit on top of a later one, on no branch") {
  change("base", "f", "one\n");
  const auto culprit = change("culprit", "f", "one\nslow\n");
  const auto tip = change("later", "g", "g");
  const auto sha = history().create_revert(culprit, "main").value();
  const auto reverted = history().commit(sha).value();
  REQUIRE(reverted.parents == std::vector<std::string>{tip});
  REQUIRE(reverted.changed_paths == std::vector<std::string>{"f"});
  REQUIRE_THAT(reverted.subject, Catch::Contains("culprit"));
  REQUIRE(history().resolve("main").value() == tip);
  REQUIRE(history().checkout(sha, folder.path() / "made").has_value());
  REQUIRE(torchwatch::test::content_of(folder.path() / "made/f") == "one\n");
  REQUIRE(torchwatch::test::content_of(folder.path() / "made/g") == "g");
  REQUIRE(history().create_revert(culprit, "main").value() == sha);
}

TEST_CASE_METHOD(Fixture, "a merge is reverted against its first parent") {
  const auto start = change("start", "f", "x");
  TestCommit merge;
  merge.subject = "merge";
  merge.files["g"] = "y";
  merge.parents = {start, start};
  const auto merged = repository.commit(merge);
  const auto sha = history().create_revert(merged, merged).value();
  REQUIRE(history().commit(sha).value().changed_paths == std::vector<std::string>{"g"});
}

TEST_CASE_METHOD(Fixture, "a revert that does not apply is a conflict that names the file") {
  change("base", "src/f", "one\n");
  const auto culprit = change("culprit", "src/f", "two\n");
  change("later", "src/f", "three\n");
  const auto error = history().create_revert(culprit, "main").error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.message, Catch::Contains("src/f"));
}

TEST_CASE_METHOD(Fixture, "a subject and a path that are no UTF-8 are printable in every message") {
  change("base", "src/\xff", "one\n");
  const auto culprit = change("caf\xe9", "src/\xff", "two\n");
  change("later", "src/\xff", "three\n");
  const auto error = history().create_revert(culprit, "main").error();
  CHECK_THAT(error.message, Catch::Contains("(caf?)") && Catch::Contains("changed src/?"));
  const auto commit = history().commit(culprit).value();
  CHECK(commit.subject == "caf?");
  CHECK(commit.changed_paths == std::vector<std::string>{"src/?"});
}

TEST_CASE_METHOD(Fixture, "reverting what is undone already, or the first commit, is refused") {
  const auto root = change("base", "f", "one\n");
  const auto culprit = change("culprit", "f", "two\n");
  change("undone by hand", "f", "one\n");
  REQUIRE(history().create_revert(culprit, "main").error().code == ErrorCode::conflict);
  REQUIRE(history().create_revert(root, "main").error().code == ErrorCode::invalid);
}
