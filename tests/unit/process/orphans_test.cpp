#include <catch2/catch.hpp>

#include "orphans_posix.hpp"

using namespace torchwatch::process;

namespace {

// Above the kernel's largest pid: none of these exists.
constexpr pid_t kLeader = 5'000'000;

ProcessEntry entry(int number, int parent, pid_t group = 1) {
  return {.pid = kLeader + number,
          .parent = kLeader + parent,
          .group = group,
          .session = 1,
          .state = 'S',
          .start_ticks = 7};
}

std::vector<int> numbers(const std::vector<ProcessEntry>& orphans) {
  std::vector<int> found;
  for (const auto& orphan : orphans) found.push_back(orphan.pid - kLeader);
  return found;
}

}  // namespace

TEST_CASE(
    "orphans are the group's members and all descendants, in whatever order they are listed") {
  OrphanFinder finder(kLeader, "tag");
  const std::vector<ProcessEntry> table = {
      entry(3, 2),           entry(2, 1),           entry(1, 0),
      entry(0, -9, kLeader), entry(8, 99, kLeader), entry(9, 99),
  };
  CHECK(numbers(finder.find(table)) == std::vector<int>{3, 2, 1, 8});
}

TEST_CASE("a descendant once seen is known when it has lost its parent") {
  OrphanFinder finder(kLeader, "tag");
  finder.remember({entry(0, -9), entry(1, 0)});
  CHECK(numbers(finder.find({entry(1, 99), entry(2, 99)})) == std::vector<int>{1});
}

TEST_CASE("another process that got a descendant's pid is left alone") {
  OrphanFinder finder(kLeader, "tag");
  finder.remember({entry(1, 0)});
  auto other = entry(1, 99);
  other.start_ticks = 8;
  CHECK(finder.find({other}).empty());
}
