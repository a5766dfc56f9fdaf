#pragma once

#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <string>
#include <utility>

#include "torchwatch/records/error.hpp"

namespace torchwatch::storage {

/// Returns the error for a SQLite code; the message names the file and what to do.
Error error_of_sqlite(int extended_code, const std::string& message,
                      const std::filesystem::path& database);

/// Runs `work`, which returns a Result. Exceptions of SQLiteCpp become errors here and nowhere
/// else.
template <typename Work>
auto guarded(const std::filesystem::path& database, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const SQLite::Exception& thrown) {
    return fail(error_of_sqlite(thrown.getExtendedErrorCode(), thrown.what(), database));
  }
}

}  // namespace torchwatch::storage
