#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::commands {

/// A list that a command prints: a table for people, `{"schema": 1, "items": [...]}` for machines.
struct Items {
  terminal::Table table;
  nlohmann::json json = nlohmann::json::array();
};

/// How many items a list shows unless --limit says so.
inline constexpr int kItemsShown = 50;

/// Adds --limit to a list.
void add_limit(CLI::App&, int& limit);

/// Adds an option by which a list is narrowed to one word, such as --state: a word of an
/// enumeration, or one of those that the list shows besides.
template <typename Enum>
void add_filter(CLI::App& list, const std::string& name, std::string& value,
                const std::vector<std::string>& shown = {}) {
  auto words = words_of<Enum>();
  words.insert(words.end(), shown.begin(), shown.end());
  list.add_option("--" + name, value, "Only this " + name + ": " + joined_by(words, ", "))
      ->check(one_of(words));
}

/// Whether a filter admits a row's word. An empty filter admits every one.
inline bool admits(const std::string& filter, std::string_view word) {
  return filter.empty() || filter == word;
}

/// Whether a filter admits a row's stored word, or the one that the list shows for it.
inline bool admits(const std::string& filter, std::string_view word, std::string_view shown) {
  return admits(filter, word) || filter == shown;
}

/// Reads the newest rows of a store that fit, at most `limit`. Errors: those of the store.
template <typename Store, typename Fits>
auto newest_fitting(storage::Database& database, int limit, const Fits& fits)
    -> decltype(Store(database).list(limit)) {
  constexpr int kReadAtOnce = 200;
  typename decltype(Store(database).list(limit))::value_type fitting;
  for (storage::Id before = INT64_MAX;;) {
    TW_TRY(const auto rows, Store(database).list(kReadAtOnce, before));
    for (const auto& row : rows) {
      if (fits(row)) fitting.push_back(row);
      if (static_cast<int>(fitting.size()) == limit) return fitting;
    }
    if (rows.size() < kReadAtOnce) return fitting;
    before = rows.back().id;
  }
}

/// Prints the list; `nothing` is the sentence for people where there is no item.
void print(const Invocation&, const Items&, const std::string& nothing);

/// What a command has changed.
struct Done {
  std::string kind;                                ///< of the item: "incident"
  nlohmann::json item;                             ///< its id, or its name
  std::string message;                             ///< the sentence for people
  nlohmann::json more = nlohmann::json::object();  ///< further members for machines
};

/// Prints the sentence; for machines `{"schema": 1, "kind": ..., "item": ..., "message": ...}`.
Outcome report_done(const Invocation&, Done);

}  // namespace torchwatch::commands
