#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <string>

namespace torchwatch::storage {

/// Changes a file behind the stores' back, with every rule of the schema off.
inline void raw_sql(const std::filesystem::path& path, const std::string& sql) {
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;");
  database.exec(sql);
}

}  // namespace torchwatch::storage
