#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::protocol {

/// The allowed values of a whole number, both ends included.
struct Range {
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Parses text that may be hostile: at most `bytes_max` long and kJsonDepthMax deep, an object at
/// the root. Errors: corrupt, saying at which byte the text stops making sense.
Result<nlohmann::json> parse_object(std::string_view text, std::size_t bytes_max);

/// Writes JSON on one line, with invalid UTF-8 replaced, so that writing never fails.
std::string dump(const nlohmann::json&);

/// Reads the members of one JSON object. Each call names a member, checks its type and range, and
/// remembers that the member is known; an error names the member by its path
/// ("leak.live_bytes[3]"). A member without a fallback is required. Refers to the JSON, which must
/// live longer.
class ObjectReader {
 public:
  ObjectReader(const nlohmann::json& object, std::string path)
      : object_(object), path_(std::move(path)) {}

  Result<std::int64_t> integer(std::string_view name, Range,
                               std::optional<std::int64_t> fallback = {});
  /// Empty if the member is absent or null.
  Result<std::optional<std::int64_t>> integer_if_there(std::string_view name, Range);
  Result<std::uint64_t> natural(std::string_view name, std::uint64_t fallback);
  /// A number from `least` to `most`, both ends included.
  Result<double> number(std::string_view name, double least, double most, double fallback);
  Result<bool> boolean(std::string_view name, bool fallback);
  Result<std::string> text(std::string_view name, std::size_t bytes_max,
                           std::optional<std::string> fallback = {});
  Result<std::vector<std::int64_t>> integers(std::string_view name, Range, std::size_t count_max);
  /// A number; not a number where it is null.
  Result<double> figure(std::string_view name);
  /// Numbers, among which null stands for what is not finite.
  Result<std::vector<double>> figures(std::string_view name, std::size_t count_max);
  Result<std::vector<std::string>> texts(std::string_view name, std::size_t count_max);
  Result<std::map<std::string, std::int64_t>> integer_map(std::string_view name, Range);
  Result<std::map<std::string, std::string>> text_map(std::string_view name);
  /// The object under `name`; empty if it is absent or null.
  Result<std::optional<ObjectReader>> object(std::string_view name);
  /// A list of objects; none if it is absent or null.
  Result<std::vector<ObjectReader>> objects(std::string_view name, std::size_t count_max);

  /// Reads a member that is a word of the vocabulary by the word's parse function.
  template <typename T>
  Result<T> word(std::string_view name, Result<T> (*parse)(std::string_view),
                 std::optional<T> fallback = {}) {
    if (fallback && !object_.contains(name)) {
      known_.insert(std::string(name));
      return *fallback;
    }
    TW_TRY(const std::string spelling, text(name, 64));
    auto value = parse(spelling);
    if (!value) return fail(value.error().within(path_of(name)));
    return value;
  }

  /// Returns an error for the first member that no call has named.
  Status refuse_unknown() const;
  tl::unexpected<Error> wrong(std::string_view name, std::string_view must) const;

 private:
  const nlohmann::json* find(std::string_view name);
  std::string path_of(std::string_view name) const;

  const nlohmann::json& object_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace torchwatch::protocol
