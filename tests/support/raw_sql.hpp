#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <string>

namespace torchwatch::test {

/// Changes a database behind the stores' back, with every rule of the schema off. Returns how many
/// rows the last statement changed.
inline int raw_sql(const std::filesystem::path& path, const std::string& sql) {
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.setBusyTimeout(10'000);
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;");
  return database.exec(sql);
}

}  // namespace torchwatch::test
