#include "torchwatch/storage/daemon_store.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>

#include "stores.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/database/writer.hpp"
#include "torchwatch/storage/work_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

TEST_CASE_METHOD(FreshStores, "when the last daemon began and stopped is known, and no more") {
  DaemonStore daemons(*stores.database);
  CHECK_FALSE(daemons.last().value());
  REQUIRE(daemons.note_start(10));
  CHECK(daemons.last().value()->started_at == 10);
  CHECK_FALSE(daemons.last().value()->stopped_at);
  REQUIRE(daemons.note_stop(20));
  CHECK(daemons.last().value()->stopped_at == 20);
  REQUIRE(daemons.note_start(30));
  CHECK(daemons.last().value()->started_at == 30);
  CHECK_FALSE(daemons.last().value()->stopped_at);
}

TEST_CASE_METHOD(FreshStores,
                 "what a process that died worked on is known once, the innermost item") {
  WorkStore work(*stores.database);
  CHECK_FALSE(work.take_left().value());
  const ItemKey comparison{ItemKind::comparison, "1"};
  const ItemKey build{ItemKind::build, "2026-08-17"};
  const auto outer = work.begin(comparison).value();
  REQUIRE(work.end(work.begin(build).value()));
  REQUIRE(work.begin(build));
  CHECK(work.take_left().value()->key == build);
  CHECK_FALSE(work.take_left().value());
  REQUIRE(work.begin(comparison));
  REQUIRE(work.end(outer));
  CHECK_FALSE(work.take_left().value());
}

TEST_CASE_METHOD(
    FreshStores,
    "work that stored a result or a step of a search before its process died got further") {
  BisectionStore bisections(*stores.database);
  BisectionRow row;
  row.good = "a";
  row.bad = "b";
  row.spec_json = "{}";
  const auto search = bisections.open(row).value();
  WorkStore work(*stores.database);
  const ItemKey key{ItemKind::bisection, std::to_string(search.id)};
  const auto leave = [&](const std::function<void()>& meanwhile) {
    REQUIRE(work.begin(key));
    meanwhile();
    return work.take_left().value()->got_further;
  };
  CHECK_FALSE(leave([] {}));
  CHECK(
      leave([&] { REQUIRE(bisections.append(search.id, {.kind = "built", .body_json = "{}"})); }));
  CHECK_FALSE(leave([] {}));
  const auto comparison = comparison_of_two(stores);
  REQUIRE(stores.runs.issue(order_of(comparison, "s0"), "t1", 1));
  CHECK(leave([&] { REQUIRE(stores.runs.record({{"t1", full_result("t1")}}, 2)); }));
  CHECK_FALSE(leave([] {}));
}

TEST_CASE("who writes a database is known while it does, and nobody afterwards") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "t.sqlite";
  CHECK_FALSE(writer_of(path));
  auto database = Database::open({.path = path}).value();
  const auto writer = writer_of(path);
  REQUIRE(writer);
  CHECK_THAT(*writer, Catch::StartsWith(std::to_string(getpid()) + " ("));
  const auto reader = Database::open({.path = path, .read_only = true}).value();
  database.reset();
  CHECK_FALSE(writer_of(path));
}
