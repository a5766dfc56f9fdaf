#include "wheel.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "zip_maker.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;
using test::with_record;
using test::zip_of;
using test::ZipEntry;

bool keep_all(std::string_view) {
  return true;
}

Status unpack_members(const std::vector<ZipEntry>& members, const ArchiveFilter& keep = keep_all) {
  const test::TemporaryFolder folder;
  const auto wheel = folder.write("x.whl", zip_of(members));
  fs::create_directory(folder.path() / "to");
  return unpack_wheel(wheel, folder.path() / "to", {}, keep, {});
}

std::string error_of(const std::vector<ZipEntry>& members) {
  const auto status = unpack_members(members);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::corrupt);
  return status.error().message;
}

const std::vector<ZipEntry> kMembers{{.name = "x/a.py", .content = "a"},
                                     {.name = "x/b.so", .content = "b"}};

TEST_CASE("a wheel that is as its RECORD says is taken") {
  CHECK(unpack_members(with_record(kMembers)));
}

TEST_CASE("a wheel with a changed, a missing or an unlisted file is refused, kept or not") {
  auto changed = with_record(kMembers);
  changed[1].content = "changed";
  CHECK(error_of(changed).find("x/b.so has another hash") != std::string::npos);
  CHECK_FALSE(unpack_members(changed, [](std::string_view name) { return name == "x/a.py"; }));
  auto missing = with_record(kMembers);
  missing.erase(missing.begin());
  CHECK(error_of(missing).find("x/a.py is listed and not there") != std::string::npos);
  auto unlisted = with_record(kMembers);
  unlisted.push_back({.name = "x/c.py", .content = "c"});
  CHECK(error_of(unlisted).find("x/c.py is not listed") != std::string::npos);
}

TEST_CASE("an archive without a RECORD is no wheel") {
  CHECK(error_of(kMembers).find("no RECORD") != std::string::npos);
}

TEST_CASE("a RECORD that leaves a hash out, names another kind or lists twice is refused") {
  const std::string good = "x,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n";
  const std::vector<ArchiveMember> members{{.name = "x", .bytes = 0, .sha256 = {}}};
  CHECK(parse_record(good).has_value());
  CHECK_FALSE(parse_record("x,md5=abc,0\n"));
  CHECK_FALSE(parse_record("x,sha256=short,0\n"));
  CHECK_FALSE(parse_record("x,sha256=!7DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"));
  CHECK_FALSE(parse_record("only a name\n"));
  CHECK_FALSE(check_against_record(members, *parse_record(good + good), "R"));
  const std::vector<ArchiveMember> hashed{{.name = "x", .bytes = 0, .sha256 = "hash"}};
  CHECK_FALSE(check_against_record(hashed, *parse_record("x,,\n"), "R"));
}

TEST_CASE("names in quotes may hold commas and quotes") {
  const auto record = parse_record("\"a,\"\"b\"\"\",,\r\n");
  REQUIRE(record.has_value());
  CHECK(record->at(0).name == "a,\"b\"");
}

}  // namespace
}  // namespace torchwatch::channel
