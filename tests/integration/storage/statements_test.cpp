#include "statements.hpp"

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>

using namespace torchwatch;
using storage::Statements;

namespace {

struct Kept {
  Kept() { database.exec("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (2), (3)"); }

  int prepared() {
    int count = 0;
    for (auto* each = sqlite3_next_stmt(database.getHandle(), nullptr); each != nullptr;
         each = sqlite3_next_stmt(database.getHandle(), each))
      ++count;
    return count;
  }

  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  Statements statements;
};

}  // namespace

TEST_CASE_METHOD(Kept, "a kept statement comes back without bindings and from its first row") {
  {
    const auto first = statements.borrow(database, "SELECT a, ? FROM t ORDER BY a");
    first->bind(1, "bound");
    REQUIRE(first->executeStep());
    REQUIRE(first->executeStep());
  }
  CHECK(prepared() == 1);
  const auto again = statements.borrow(database, "SELECT a, ? FROM t ORDER BY a");
  CHECK(prepared() == 1);
  REQUIRE(again->executeStep());
  CHECK(again->getColumn(0).getInt() == 1);
  CHECK(again->isColumnNull(1));
}

TEST_CASE_METHOD(Kept, "a statement that is lent twice reads two sets of rows") {
  const std::string sql = "SELECT a FROM t ORDER BY a";
  const auto outer = statements.borrow(database, sql);
  int rows = 0;
  while (outer->executeStep()) {
    const auto inner = statements.borrow(database, sql);
    while (inner->executeStep()) ++rows;
  }
  CHECK(rows == 9);
  CHECK(prepared() == 2);
}

TEST_CASE_METHOD(Kept, "a kept statement reads nothing, and sees a table that was made again") {
  REQUIRE(statements.borrow(database, "SELECT a FROM t")->executeStep());
  database.exec("DROP TABLE t; CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (9)");
  const auto again = statements.borrow(database, "SELECT a FROM t");
  REQUIRE(again->executeStep());
  CHECK(again->getColumn(0).getInt() == 9);
}

TEST_CASE_METHOD(Kept, "a statement that failed is prepared anew") {
  const std::string sql = "INSERT INTO t VALUES (?)";
  {
    const auto refused = statements.borrow(database, sql);
    refused->bind(1, 1);
    CHECK_THROWS_AS(refused->exec(), SQLite::Exception);
  }
  CHECK(prepared() == 0);
  const auto again = statements.borrow(database, sql);
  again->bind(1, 4);
  CHECK(again->exec() == 1);
}

TEST_CASE_METHOD(Kept, "of many statements the last used are kept") {
  for (int i = 0; i < 1'000; ++i) {
    statements.borrow(database, "SELECT " + std::to_string(i));
    statements.borrow(database, "SELECT a FROM t");
  }
  CHECK(prepared() == 64);
  const auto often = statements.borrow(database, "SELECT a FROM t");
  CHECK(prepared() == 64);
  CHECK_THROWS_AS(statements.borrow(database, "SELECT nothing FROM t"), SQLite::Exception);
}
