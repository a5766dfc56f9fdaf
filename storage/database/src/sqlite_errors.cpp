#include "sqlite_errors.hpp"

#include <sqlite3.h>

#include "file_system.hpp"

namespace torchwatch::storage {
namespace {

Error constraint_error(int extended_code, const std::string& text) {
  switch (extended_code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
      return {ErrorCode::conflict, text + ": it exists already"};
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return {ErrorCode::not_found, text + ": a row that it names does not exist"};
    default:
      return {ErrorCode::invalid, text + ": the schema does not allow such a row"};
  }
}

std::string remedy(int code, const std::filesystem::path& database) {
  switch (code) {
    case SQLITE_FULL:
      return "the disk is full (" + free_space_note(database) + "): free space there";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "it cannot be written: check owner, mode and mount options of file and folder";
    case SQLITE_CANTOPEN:
      return "it cannot be opened: check that the folder exists, its owner and mode";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process keeps it locked: end that process";
    case SQLITE_NOMEM:
      return "not enough memory";
    default:
      return "reading or writing failed (" + free_space_note(database) +
             "): check the disk and the kernel's log";
  }
}

}  // namespace

Error error_of_sqlite(int extended_code, const std::string& message,
                      const std::filesystem::path& database) {
  const auto text = "database " + database.string() + ": " + message;
  const int code = extended_code & 0xFF;
  switch (code) {
    case SQLITE_CONSTRAINT:
      return constraint_error(extended_code, text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::damaged, text, "restore a backup, or move the file away to start anew"};
    case SQLITE_INTERRUPT:
      return {ErrorCode::cancelled, text};
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
    case SQLITE_NOMEM:
      return {ErrorCode::unavailable, text + "; " + remedy(code, database)};
    default:
      return {ErrorCode::internal, text + " (SQLite code " + std::to_string(extended_code) + ")",
              "please report this"};
  }
}

}  // namespace torchwatch::storage
