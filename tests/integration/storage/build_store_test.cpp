#include <catch2/catch.hpp>

#include "raw_sql.hpp"
#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

TEST_CASE_METHOD(FreshStores, "a build is discovered once") {
  const auto first = stores.builds.discover(BuildOrigin::nightly, "n1").value();
  const auto again = stores.builds.discover(BuildOrigin::nightly, "n1").value();
  const auto other = stores.builds.discover(BuildOrigin::folder, "n1").value();
  REQUIRE(first.id == again.id);
  REQUIRE(first.id != other.id);
  REQUIRE(first.state == BuildState::discovered);
  REQUIRE(stores.builds.list().value().size() == 2);
}

TEST_CASE_METHOD(FreshStores, "a ready build keeps what was read from its tree") {
  const auto ready = ready_build(stores.builds, "n1", "h1");
  const auto row = stores.builds.get(ready.id).value();
  REQUIRE(row.state == BuildState::ready);
  REQUIRE(row.version == "2.13.0");
  REQUIRE(row.trunk_commit == "c0ffee");
  REQUIRE(row.content_hash == "h1");
  REQUIRE(row.folder == "/builds/n1");
}

TEST_CASE_METHOD(FreshStores, "becoming ready again with the same content changes no identity") {
  const auto first = ready_build(stores.builds, "n1", "h1");
  REQUIRE(ready_build(stores.builds, "n1", "h1").id == first.id);
  REQUIRE(stores.builds.list().value().size() == 1);
}

TEST_CASE_METHOD(FreshStores, "a file re-published under its name is a new build, and back again") {
  const auto first = ready_build(stores.builds, "n1", "h1");
  const auto second = ready_build(stores.builds, "n1", "h2");
  REQUIRE(second.id != first.id);
  REQUIRE(stores.builds.get(first.id).value().content_hash == "h1");
  REQUIRE(stores.builds.discover(BuildOrigin::nightly, "n1").value().id == second.id);
  REQUIRE(ready_build(stores.builds, "n1", "h1").id == first.id);
}

TEST_CASE_METHOD(FreshStores, "a rejected build states why and may become ready later") {
  const auto row = stores.builds.discover(BuildOrigin::nightly, "n1").value();
  REQUIRE(stores.builds.reject(row.id, "bad CRC").value().reason == "bad CRC");
  const auto ready = ready_build(stores.builds, "n1", "h1");
  REQUIRE(ready.id == row.id);
  REQUIRE(ready.reason.empty());
}

TEST_CASE_METHOD(FreshStores, "a ready build is not rejected") {
  const auto ready = ready_build(stores.builds, "n1", "h1");
  REQUIRE(stores.builds.reject(ready.id, "why").error().code == ErrorCode::conflict);
  REQUIRE(stores.builds.get(ready.id).value().state == BuildState::ready);
}

TEST_CASE_METHOD(FreshStores, "no build is ready without content hash and folder") {
  auto row = stores.builds.discover(BuildOrigin::nightly, "n1").value();
  REQUIRE(stores.builds.mark_ready(row).error().code == ErrorCode::invalid);
  REQUIRE(stores.builds.get(row.id).value().state == BuildState::discovered);
  REQUIRE(stores.builds.get(77).error().code == ErrorCode::not_found);
}

TEST_CASE("the state folder can be moved with the builds in it") {
  const test::MemoryFolder folder;
  const auto before = folder.path() / "state";
  const auto after = folder.path() / "moved";
  const auto mark = [](Stores& stores, const std::string& name, const std::string& tree) {
    auto row = stores.builds.discover(BuildOrigin::release, name).value();
    row.content_hash = "h";
    row.folder = tree;
    return stores.builds.mark_ready(row).value();
  };
  {
    Stores stores(before / "t.sqlite");
    const auto inside = mark(stores, "2.13.0", before / "builds" / "2.13.0");
    REQUIRE(inside.folder == before / "builds" / "2.13.0");
    mark(stores, "2.12.0", folder.path() / "elsewhere");
    mark(stores, "2.11.0", folder.path() / "state-of-others");
  }
  // An earlier version stored every path as it was.
  test::raw_sql(before / "t.sqlite",
                "INSERT INTO build (origin, name, content_hash, folder, state) "
                "VALUES ('release', '2.10.0', 'h', '" +
                    (before / "builds" / "2.10.0").string() + "', 'ready')");
  {
    const Stores upgraded(before / "t.sqlite");
  }
  std::filesystem::rename(before, after);
  Stores stores(after / "t.sqlite");
  std::vector<std::string> folders;
  const auto rows = stores.builds.list().value();
  for (const auto& row : rows) folders.push_back(row.folder);
  REQUIRE(folders ==
          std::vector<std::string>{after / "builds" / "2.13.0", folder.path() / "elsewhere",
                                   folder.path() / "state-of-others", after / "builds" / "2.10.0"});
  REQUIRE(stores.builds.get(rows.front().id).value().folder == rows.front().folder);
  REQUIRE(stores.builds.discover(BuildOrigin::release, "2.13.0").value().folder ==
          rows.front().folder);
}
