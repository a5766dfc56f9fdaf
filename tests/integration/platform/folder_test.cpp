#include "torchwatch/platform/folder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "unreadable_folder.hpp"

using namespace torchwatch;

namespace {

std::vector<std::string> names_of(const platform::Listing& listing) {
  std::vector<std::string> names;
  for (const auto& entry : listing.entries) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

struct Folder {
  Folder() {
    folder.write("a/file", "");
    folder.write("b", "");
  }
  test::TemporaryFolder folder;
};

}  // namespace

TEST_CASE_METHOD(Folder, "a folder is listed with what lies directly in it, a tree with all") {
  const auto direct = platform::list_folder(folder.path());
  CHECK_FALSE(direct.error);
  CHECK(names_of(direct) == std::vector<std::string>{"a", "b"});
  CHECK(names_of(platform::list_tree(folder.path())) == std::vector<std::string>{"a", "b", "file"});
}

TEST_CASE_METHOD(Folder, "a folder that is not there has no entries, and says so") {
  const auto listing = platform::list_folder(folder.path() / "none");
  CHECK(listing.entries.empty());
  CHECK(listing.error == std::errc::no_such_file_or_directory);
}

TEST_CASE_METHOD(Folder, "bytes count once, whatever number of names a file has") {
  folder.write("a/large", std::string(1000, 'x'));
  std::filesystem::create_hard_link(folder.path() / "a/large", folder.path() / "large");
  std::filesystem::create_symlink(folder.path() / "large", folder.path() / "link");
  folder.write("b", "four");
  platform::FileBytes below;
  for (const auto& entry : platform::list_tree(folder.path() / "a").entries) below.add(entry);
  CHECK(below.sum() == 1000);
  platform::FileBytes direct;
  for (const auto& entry : platform::list_folder(folder.path()).entries) direct.add(entry);
  CHECK(direct.sum() == 1004);
  direct.add(below);
  CHECK(direct.sum() == 1004);
}

TEST_CASE_METHOD(Folder, "a folder that the disk cannot read is an error and no exception") {
  const test::UnreadableFolder damaged(folder.path() / "a");
  const auto listing = platform::list_folder(folder.path() / "a");
  CHECK(listing.entries.empty());
  CHECK(listing.error == std::errc::io_error);
  CHECK(platform::list_tree(folder.path()).error == std::errc::io_error);
}
