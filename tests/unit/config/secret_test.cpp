#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using torchwatch::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

fs::path secret_file(const TemporaryFolder& folder, const std::string& text, int mode) {
  const auto file = folder.write("token", text);
  fs::permissions(file, static_cast<fs::perms>(mode));
  return file;
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
    CHECK(error.message.find("run: chmod 600 ") != std::string::npos);
    CHECK(error.message.find("abc123") == std::string::npos);
  }
}

TEST_CASE("what is no regular file is no secret") {
  const TemporaryFolder folder;
  CHECK(read_secret(folder.path()).error().code == ErrorCode::invalid);
  CHECK(read_secret("/dev/null").error().code == ErrorCode::invalid);
  CHECK(read_secret(folder.path() / "absent").error().code == ErrorCode::not_found);
}

TEST_CASE("an empty, a long and a secret of several lines are refused without showing them") {
  for (const auto& text : {std::string(" \n"), std::string(5000, 's'), std::string("a\nb: evil")}) {
    const TemporaryFolder folder;
    const auto error = read_secret(secret_file(folder, text, 0600)).error();
    CHECK(error.code == ErrorCode::invalid);
    CHECK(error.message.find("evil") == std::string::npos);
    CHECK(error.message.find("sss") == std::string::npos);
  }
}
