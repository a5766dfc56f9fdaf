#include "torchwatch/channel/archive.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/builds/sha256.hpp"
#include "torchwatch/doors/publish.hpp"
#include "zip_maker.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;
using test::zip_of;
using test::ZipEntry;

/// An archive's folder within a folder, so that what gets out is seen.
class Sandbox {
 public:
  Status unpack_bytes(const std::string& bytes, const ArchiveLimits& limits = {}) const {
    folder_.write("a.zip", bytes);
    return unpack(folder_.path() / "a.zip", target(), limits, {});
  }
  /// The error; everything around must be as before.
  Error refusal_of(const std::string& bytes, const ArchiveLimits& limits = {}) const {
    const auto status = unpack_bytes(bytes, limits);
    REQUIRE_FALSE(status.has_value());
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    CHECK(names == std::vector<std::string>{"a.zip"});
    return status.error();
  }
  std::string content(const std::string& name) const {
    return doors::read_file(target() / name, 1'000'000).value();
  }
  fs::path target() const { return folder_.path() / "target"; }
  const fs::path& path() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

unsigned mode_of(const fs::path& path) {
  struct stat about{};
  REQUIRE(lstat(path.c_str(), &about) == 0);
  return about.st_mode & 07777U;
}

TEST_CASE("an honest archive is unpacked whole, with modes of ours") {
  const Sandbox sandbox;
  const std::string large(300'000, 'x');
  const auto status = sandbox.unpack_bytes(
      zip_of({{.name = "lib/", .mode = 040777},
              {.name = "lib/libtorch.so", .content = "elf", .mode = 0104755},
              {.name = "include/deep/er/x.h", .content = large, .is_packed = true},
              {.name = "empty"}}));
  INFO((status ? std::string() : status.error().message));
  REQUIRE(status.has_value());
  CHECK(sandbox.content("lib/libtorch.so") == "elf");
  CHECK(sandbox.content("include/deep/er/x.h") == large);
  CHECK(sandbox.content("empty").empty());
  CHECK(mode_of(sandbox.target() / "lib/libtorch.so") == 0644);
  CHECK(mode_of(sandbox.target() / "lib") == 0755);
  CHECK(mode_of(sandbox.target() / "include/deep") == 0755);
}

TEST_CASE(
    "names that would leave the folder, or mean different things to different readers, are "
    "refused") {
  const std::string name = GENERATE("../x", "a/../../x", "/etc/x", "..", ".", "a/./b", "a//b",
                                    "a\\..\\b", "C:\\x", "//x", "/", std::string("a\0b", 3),
                                    "caf\xc3\xa9", "new\nline", "a/..", std::string(300, 'n'));
  const Sandbox sandbox;
  const auto error = sandbox.refusal_of(zip_of({{.name = "good", .content = "1"}, {.name = name}}));
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(error.message.find("a.zip is refused") != std::string::npos);
}

TEST_CASE("links, devices and other things that are neither files nor folders are refused") {
  const std::uint32_t mode = GENERATE(0120777U, 0020666U, 0010644U, 0140644U);
  const Sandbox sandbox;
  const auto error = sandbox.refusal_of(
      zip_of({{.name = "data", .content = "/etc/passwd", .mode = mode}, {.name = "data2"}}));
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(error.message.find("\"data\"") != std::string::npos);
}

TEST_CASE("a second member of a name is refused, also where only case differs") {
  const std::string second = GENERATE("lib/a.so", "LIB/A.so", "lib/a.so/");
  const Sandbox sandbox;
  sandbox.refusal_of(zip_of({{.name = "lib/a.so", .content = "1"}, {.name = second}}));
}

TEST_CASE("a file where another member needs a folder is refused") {
  const Sandbox sandbox;
  sandbox.refusal_of(zip_of({{.name = "lib", .content = "1"}, {.name = "lib/a.so"}}));
}

TEST_CASE("a wrong checksum is refused, though libarchive only warns of it") {
  const bool is_packed = GENERATE(true, false);
  const Sandbox sandbox;
  const auto error = sandbox.refusal_of(zip_of({{.name = "good", .content = "1"},
                                                {.name = "lib/libtorch_cpu.so",
                                                 .content = std::string(1000, 'x'),
                                                 .is_packed = is_packed,
                                                 .wrong_crc_by = 1}}));
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(error.message.find("libtorch_cpu.so") != std::string::npos);
}

TEST_CASE("every cut of an archive is refused") {
  const std::string whole =
      zip_of({{.name = "a", .content = "one"}, {.name = "b/c", .content = "two"}});
  const Sandbox sandbox;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(sandbox.refusal_of(whole.substr(0, size)).code == ErrorCode::corrupt);
  }
}

TEST_CASE("whatever byte of an archive changes, nothing gets out and no file differs unseen") {
  const std::string content = "some content";
  const std::string whole = zip_of({{.name = "ab/cd", .content = content}});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const Sandbox sandbox;
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    if (!sandbox.unpack_bytes(changed)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(sandbox.target())) {
      if (entry.is_regular_file()) {
        CHECK(doors::read_file(entry.path(), 1000).value() == content);
      }
    }
  }
}

TEST_CASE("a directory that says other things than the members is refused") {
  const Sandbox sandbox;
  sandbox.refusal_of(zip_of({{.name = "a", .content = "123", .wrong_size_by = 1}}));
  sandbox.refusal_of(zip_of({{.name = "a", .content = "123", .wrong_size_by = -1}}));
  sandbox.refusal_of(
      zip_of({{.name = "a", .content = "123", .is_packed = true, .wrong_size_by = -1}}));
  sandbox.refusal_of(zip_of({{.name = "a", .content = "1"}, {.name = "b", .shares_place = true}}));
}

TEST_CASE("an encrypted member is refused") {
  const Sandbox sandbox;
  sandbox.refusal_of(zip_of({{.name = "a", .content = std::string(100, 'x'), .flags = 1}}));
}

TEST_CASE("limits hold: members, size together, depth, packing") {
  const Sandbox sandbox;
  ArchiveLimits limits;
  const auto refused = [&](const std::vector<ZipEntry>& entries, const std::string& reason) {
    const auto error = sandbox.refusal_of(zip_of(entries), limits);
    INFO(error.message);
    CHECK(error.message.find(reason) != std::string::npos);
  };
  SECTION("members") {
    limits.entries_max = 2;
    refused({{.name = "a"}, {.name = "b"}, {.name = "c"}}, "more than 2 members");
  }
  SECTION("size together") {
    limits.bytes_max = 10;
    refused({{.name = "a", .content = "123456"}, {.name = "b", .content = "123456"}}, "too large");
  }
  SECTION("depth") {
    limits.depth_max = 3;
    refused({{.name = "a/b/c/d"}}, "too deep");
  }
  SECTION("packing") {
    refused({{.name = "bomb", .content = std::string(20'000'000, '\0'), .is_packed = true}},
            "200 to 1");
  }
}

TEST_CASE("a small file may be packed as well as it likes") {
  const Sandbox sandbox;
  CHECK(sandbox.unpack_bytes(
      zip_of({{.name = "zeros", .content = std::string(1'000'000, '\0'), .is_packed = true}})));
}

TEST_CASE("what is not kept is read and checked all the same") {
  const test::TemporaryFolder folder;
  const auto keep = [](std::string_view name) { return name == "kept"; };
  folder.write("a.zip",
               zip_of({{.name = "dropped", .content = "1"}, {.name = "kept", .content = "2"}}));
  fs::create_directory(folder.path() / "to");
  const auto members = unpack_into(folder.path() / "a.zip", folder.path() / "to", {}, keep, {});
  REQUIRE(members.has_value());
  REQUIRE(members->size() == 2);
  builds::Sha256 hash;
  hash.add("1");
  CHECK(members->at(0).sha256 == hash.digest());
  CHECK_FALSE(fs::exists(folder.path() / "to/dropped"));
  CHECK(fs::exists(folder.path() / "to/kept"));
  folder.write("bad.zip", zip_of({{.name = "dropped", .content = "1", .wrong_crc_by = 7}}));
  CHECK_FALSE(unpack_into(folder.path() / "bad.zip", folder.path() / "to", {}, keep, {}));
}

TEST_CASE("unpacking stops when asked, and leaves nothing") {
  const test::TemporaryFolder folder;
  folder.write("a.zip", zip_of({{.name = "a", .content = "1"}}));
  std::stop_source stop;
  stop.request_stop();
  const auto status = unpack(folder.path() / "a.zip", folder.path() / "to", {}, stop.get_token());
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::cancelled);
  CHECK_FALSE(fs::exists(folder.path() / "to"));
}

TEST_CASE("an archive that is not there is not found; a folder that is there is not overwritten") {
  const test::TemporaryFolder folder;
  CHECK(unpack(folder.path() / "gone.zip", folder.path() / "to", {}, {}).error().code ==
        ErrorCode::not_found);
  folder.write("a.zip", zip_of({{.name = "a", .content = "1"}}));
  folder.write("to/mine", "1");
  CHECK(unpack(folder.path() / "a.zip", folder.path() / "to", {}, {}).error().code ==
        ErrorCode::conflict);
  CHECK(fs::exists(folder.path() / "to/mine"));
}

}  // namespace
}  // namespace torchwatch::channel
