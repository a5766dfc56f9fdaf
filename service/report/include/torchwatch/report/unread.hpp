#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::report {

/// Collects what of an item cannot be read, so that the rest of it is shown. Its texts are for
/// everybody: they quote no error, which may name paths.
class Unread {
 public:
  /// Returns the value; without one notes what it would have been, once: "its verdicts".
  template <typename T>
  std::optional<T> known(Result<T> read, const std::string& what) {
    if (read) return *std::move(read);
    if (std::ranges::find(parts_, what) == parts_.end()) parts_.push_back(what);
    return std::nullopt;
  }

  /// The same with an empty value where there is none.
  template <typename T>
  T value(Result<T> read, const std::string& what) {
    return known(std::move(read), what).value_or(T());
  }

  /// The same where it is damaged. Other errors, as of a database that does not answer, concern the
  /// whole.
  template <typename T>
  Result<T> unless_damaged(Result<T> read, const std::string& what) {
    if (!read && !is_damage(read.error())) return read;
    return value(std::move(read), what);
  }

  /// Says it, and what to do: "its result and its verdicts cannot be read: if that lasts, restore a
  /// backup". Empty where all was read.
  std::string text() const;

 private:
  static bool is_damage(const Error& error) {
    return error.code == ErrorCode::damaged || error.code == ErrorCode::corrupt;
  }

  std::vector<std::string> parts_;
};

}  // namespace torchwatch::report
