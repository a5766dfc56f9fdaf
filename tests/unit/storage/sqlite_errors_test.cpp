#include "sqlite_errors.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

Error error_of(int code) {
  return error_of_sqlite(code, "text of SQLite", "/var/tw.sqlite");
}

}  // namespace

TEST_CASE("an error of the environment is unavailable") {
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_READONLY,
                         SQLITE_CANTOPEN, SQLITE_BUSY, SQLITE_NOMEM}) {
    REQUIRE(error_of(code).code == ErrorCode::unavailable);
  }
}

TEST_CASE("damage, conflict, missing row, bad row and bug have different codes") {
  REQUIRE(error_of(SQLITE_CORRUPT).code == ErrorCode::damaged);
  REQUIRE(error_of(SQLITE_NOTADB).code == ErrorCode::damaged);
  REQUIRE(error_of(SQLITE_CONSTRAINT_UNIQUE).code == ErrorCode::conflict);
  REQUIRE(error_of(SQLITE_CONSTRAINT_PRIMARYKEY).code == ErrorCode::conflict);
  REQUIRE(error_of(SQLITE_CONSTRAINT_FOREIGNKEY).code == ErrorCode::not_found);
  REQUIRE(error_of(SQLITE_CONSTRAINT_CHECK).code == ErrorCode::invalid);
  REQUIRE(error_of(SQLITE_CONSTRAINT_NOTNULL).code == ErrorCode::invalid);
  REQUIRE(error_of(SQLITE_ERROR).code == ErrorCode::internal);
  REQUIRE(error_of(-1).code == ErrorCode::internal);
}

TEST_CASE("an error names the file, what SQLite said and what to do") {
  const auto message = error_of(SQLITE_FULL).text();
  REQUIRE_THAT(message, Catch::Contains("/var/tw.sqlite"));
  REQUIRE_THAT(message, Catch::Contains("text of SQLite"));
  REQUIRE_THAT(message, Catch::Contains("MiB free"));
  REQUIRE_THAT(message, Catch::Contains("free space there"));
}
