#pragma once

#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <string>
#include <utility>

#include "torchwatch/records/error.hpp"

namespace torchwatch::storage {

/// What a SQLite error means to us, with the file and what to do about it.
Error error_of_sqlite(int extended_code, const std::string& message,
                      const std::filesystem::path& database);

/// Runs `work`, which returns a Result. The one place where exceptions of SQLiteCpp end.
template <typename Work>
auto guarded(const std::filesystem::path& database, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const SQLite::Exception& thrown) {
    return fail(error_of_sqlite(thrown.getExtendedErrorCode(), thrown.what(), database));
  }
}

}  // namespace torchwatch::storage
