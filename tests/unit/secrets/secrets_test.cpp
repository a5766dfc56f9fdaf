#include "torchwatch/secrets/secrets.hpp"

#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>

#include "temporary_folder.hpp"

using namespace torchwatch;
using namespace torchwatch::secrets;
using torchwatch::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

fs::path secret_file(const TemporaryFolder& folder, const std::string& text, int mode) {
  const auto file = folder.write("token", text);
  fs::permissions(file, static_cast<fs::perms>(mode));
  return file;
}

/// Gives a user the right to read beside the owner, by an access list as systemd writes it.
void let_read(const fs::path& file, std::uint32_t user) {
  constexpr std::uint16_t kRead = 4;
  struct Entry {
    std::uint16_t tag;
    std::uint16_t rights;
    std::uint32_t id;
  };
  struct {
    std::uint32_t version = 2;
    std::array<Entry, 5> entries;
  } list{.entries = {{{0x01, kRead, UINT32_MAX},
                      {0x02, kRead, user},
                      {0x04, 0, UINT32_MAX},
                      {0x10, kRead, UINT32_MAX},
                      {0x20, 0, UINT32_MAX}}}};
  REQUIRE(setxattr(file.c_str(), "system.posix_acl_access", &list, sizeof(list), 0) == 0);
}

}  // namespace

TEST_CASE("a secret that only its owner can read is returned without the line's end") {
  const TemporaryFolder folder;
  CHECK(read_secret(secret_file(folder, " abc123\n", 0600)).value() == "abc123");
  fs::remove(folder.path() / "token");
  CHECK(read_secret(secret_file(folder, "abc123", 0400)).value() == "abc123");
}

TEST_CASE("a secret that others could read is refused, with the remedy and without the secret") {
  for (const int mode : {0644, 0640, 0604, 0700, 0660}) {
    CAPTURE(mode);
    const TemporaryFolder folder;
    const auto error = read_secret(secret_file(folder, "abc123", mode)).error();
    CHECK(error.code == ErrorCode::invalid);
    CHECK(error.text().find("run: chmod 600 ") != std::string::npos);
    CHECK(error.message.find("abc123") == std::string::npos);
  }
}

TEST_CASE("a credential that systemd lets only this user read is a secret") {
  const TemporaryFolder folder;
  const auto file = secret_file(folder, "abc123", 0400);
  let_read(file, geteuid());
  REQUIRE((fs::status(file).permissions() & fs::perms::group_read) != fs::perms::none);
  CHECK(read_secret(file).value() == "abc123");
  let_read(file, geteuid() + 1);
  CHECK(read_secret(file).error().code == ErrorCode::invalid);
}

TEST_CASE("what is not a regular file is not a secret") {
  const TemporaryFolder folder;
  CHECK(read_secret(folder.path()).error().code == ErrorCode::invalid);
  CHECK(read_secret("/dev/null").error().code == ErrorCode::invalid);
  CHECK(read_secret(folder.path() / "absent").error().code == ErrorCode::not_found);
}

TEST_CASE("an empty, a long and a secret of several lines are refused without showing them") {
  for (const auto& text :
       {std::string(" \n"), std::string(16'385, 's'), std::string("a\nb: evil")}) {
    const TemporaryFolder folder;
    const auto error = read_secret(secret_file(folder, text, 0600)).error();
    CHECK(error.code == ErrorCode::invalid);
    CHECK(error.message.find("evil") == std::string::npos);
    CHECK(error.message.find("sss") == std::string::npos);
  }
}
