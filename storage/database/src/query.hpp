#pragma once

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "connection.hpp"
#include "torchwatch/records/words.hpp"

namespace torchwatch::storage {

/// Reads a column of words: an enumeration, a configuration or a variant. Errors: invalid.
template <typename T>
Result<T> read_words(std::string_view text) {
  if constexpr (std::same_as<T, Configuration>) {
    return parse_configuration(text);
  } else if constexpr (std::same_as<T, Variant>) {
    return parse_variant(text);
  } else {
    return parse_word<T>(text);
  }
}

/// Bytes to bind as a BLOB.
struct Blob {
  std::string_view bytes;
};

/// One statement with its parameters bound, and its rows read column by column from the left.
/// Throws SQLite::Exception, so use it inside `guarded` only.
class Query {
 public:
  template <typename... Values>
  Query(Connection& connection, const std::string& sql, const Values&... values)
      : statement_(connection.statements.borrow(connection.sqlite, sql)) {
    int index = 0;
    (bind(++index, values), ...);
  }

  bool next() {
    column_ = 0;
    return statement_->executeStep();
  }
  /// Runs a statement that yields no rows; returns the number of rows it changed.
  int run() { return statement_->exec(); }

  /// Returns the next column of the row. An enumeration is read from its word; an unknown word is
  /// kept as damage.
  template <typename T>
  T take();

  /// Returns the error for the first unknown word, if there was one.
  const std::optional<Error>& damage() const { return damage_; }
  /// The same of the words since the last call: those of one row.
  std::optional<Error> take_damage() { return std::exchange(damage_, std::nullopt); }

 private:
  void bind(int index, std::int64_t value) { statement_->bind(index, value); }
  void bind(int index, int value) { statement_->bind(index, value); }
  void bind(int index, double value) { statement_->bind(index, value); }
  void bind(int index, const std::string& value) { statement_->bind(index, value); }
  void bind(int index, const char* value) { statement_->bind(index, value); }
  void bind(int index, std::string_view value) { statement_->bind(index, std::string(value)); }
  /// As a JSON array, for json_each.
  void bind(int index, const std::vector<std::int64_t>& ids) {
    std::string array;
    for (const auto id : ids) array += (array.empty() ? "" : ",") + std::to_string(id);
    bind(index, "[" + array + "]");
  }
  void bind(int index, Blob blob) {
    statement_->bind(index, blob.bytes.data(), static_cast<int>(blob.bytes.size()));
  }
  template <typename Word>
    requires std::is_enum_v<Word>
  void bind(int index, Word value) {
    bind(index, to_string(value));
  }
  template <typename T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      statement_->bind(index);
    }
  }

  void note_damage(std::string_view word);
  SQLite::Column next_column() { return statement_->getColumn(column_++); }

  Statements::Borrowed statement_;
  int column_ = 0;
  std::optional<Error> damage_;
};

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
T Query::take() {
  if constexpr (IsOptional<T>::value) {
    if (!statement_->isColumnNull(column_)) return take<typename T::value_type>();
    ++column_;
    return std::nullopt;
  } else if constexpr (std::same_as<T, std::string>) {
    return next_column().getString();
  } else if constexpr (std::same_as<T, double>) {
    return next_column().getDouble();
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(next_column().getInt64());
  } else {
    const auto word = next_column().getString();
    const auto value = read_words<T>(word);
    if (!value) note_damage(word);
    return value.value_or(T{});
  }
}

/// Runs one statement that yields no rows; returns the number of rows it changed.
template <typename... Values>
int execute(Connection& connection, const std::string& sql, const Values&... values) {
  return Query(connection, sql, values...).run();
}

/// Returns every row, as `row_of` reads it.
template <typename Row>
Result<std::vector<Row>> all_rows(Query query, Row (*row_of)(Query&)) {
  std::vector<Row> rows;
  while (query.next()) rows.push_back(row_of(query));
  if (query.damage()) return fail(*query.damage());
  return rows;
}

/// Returns the first row, if there is one.
template <typename Row>
Result<std::optional<Row>> first_row(Query query, Row (*row_of)(Query&)) {
  if (!query.next()) return std::nullopt;
  std::optional<Row> row = row_of(query);
  if (query.damage()) return fail(*query.damage());
  return row;
}

/// The error for a row that must exist; `what` names it ("comparison 7"). Its remedy is the command
/// that lists such rows, where there is one.
Error not_stored(const std::string& what);

/// Returns the one row that must exist; `what` names it in the error ("comparison 7").
template <typename Row>
Result<Row> one_row(Query query, Row (*row_of)(Query&), const std::string& what) {
  TW_TRY(auto row, first_row(std::move(query), row_of));
  if (!row) return fail(not_stored(what));
  return *std::move(row);
}

std::int64_t last_id(Connection&);

}  // namespace torchwatch::storage
