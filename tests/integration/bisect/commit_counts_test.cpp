#include "torchwatch/history/commit_counts.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "temporary_folder.hpp"
#include "test_repository.hpp"

using namespace torchwatch;
using torchwatch::bisect::CommitCounts;
using torchwatch::test::TemporaryFolder;
using torchwatch::test::TestRepository;

namespace {

namespace fs = std::filesystem;

/// A repository in which the commit `later` is missing until `add_later`, and which changes no time
/// of a file by that.
struct Missing {
  void add_later() {
    std::map<fs::path, fs::file_time_type> times;
    for (const auto* name : {"objects/pack", "refs/heads"}) {
      times[repository.path() / name] = fs::last_write_time(repository.path() / name);
    }
    REQUIRE(repository.commit("later") == later);
    for (const auto& [path, time] : times) fs::last_write_time(path, time);
  }

  /// The same commits give the same names elsewhere.
  std::string name_of_later() const {
    TestRepository other(folder.path() / "other.git");
    other.commit("one");
    return other.commit("later");
  }

  TemporaryFolder folder;
  TestRepository repository{folder.path() / "source.git"};
  std::string one = repository.commit("one");
  std::string later = name_of_later();
  CommitCounts counts{repository.path()};
};

}  // namespace

TEST_CASE("commits between two are counted, also by many threads at once") {
  TemporaryFolder folder;
  TestRepository repository(folder.path() / "source.git");
  const auto one = repository.commit("one");
  repository.commit("two");
  const auto three = repository.commit("three");
  CommitCounts counts(repository.path());
  std::vector<std::optional<std::int64_t>> found(8);
  std::vector<std::jthread> threads;
  for (auto& each : found) {
    threads.emplace_back([&] { each = counts.between(one, three); });
  }
  threads.clear();
  CHECK(found == std::vector<std::optional<std::int64_t>>(8, 2));
  CHECK(counts.between(one, one) == 0);
  CHECK_FALSE(counts.between(three, one));
}

TEST_CASE_METHOD(Missing, "a missing commit is not looked for again before something was fetched") {
  CHECK_FALSE(counts.between(one, later));
  add_later();
  CHECK_FALSE(counts.between(one, later));
  std::ofstream(repository.path() / "FETCH_HEAD") << later << '\n';
  CHECK(counts.between(one, later) == 1);
}

TEST_CASE_METHOD(Missing, "a missing commit is looked for again once a branch moved") {
  CHECK_FALSE(counts.between(one, later));
  add_later();
  const auto branches = repository.path() / "refs" / "heads";
  fs::last_write_time(branches, fs::last_write_time(branches) + std::chrono::seconds(1));
  CHECK(counts.between(one, later) == 1);
}

TEST_CASE("a repository that is not there yet is looked for each time") {
  TemporaryFolder folder;
  CommitCounts counts(folder.path() / "source.git");
  CHECK_FALSE(counts.between("aaaa", "bbbb"));
  TestRepository repository(folder.path() / "source.git");
  const auto one = repository.commit("one");
  const auto two = repository.commit("two");
  CHECK(counts.between(one, two) == 1);
}
