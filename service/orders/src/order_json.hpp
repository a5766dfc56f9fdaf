#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::orders {

/// The version of orders and answers; another one is of another torchwatch.
inline constexpr int kOrderSchema = 4;

/// One line of JSON, with its end.
std::string line_of(const nlohmann::json& object);
/// Parses an object. Deep nesting is cut off, as writing it again would need the stack for it.
std::optional<nlohmann::json> parse_object(std::string_view text);
/// Returns a member that is a text; else an empty one.
std::string text_of(const nlohmann::json& object, const char* name);

/// Takes texts and numbers out of an object; the first that is missing or of another type makes it
/// fail.
class Reader {
 public:
  explicit Reader(const nlohmann::json& object) : object_(object) {}

  template <typename T>
  void take(const char* name, T& value) {
    const auto found = object_.find(name);
    if (found == object_.end()) return note(name);
    try {
      value = found->get<T>();
    } catch (const nlohmann::json::exception&) {
      note(name);
    }
  }
  Status status() const {
    if (wrong_.empty()) return {};
    return fail(ErrorCode::invalid, "order: " + wrong_ + " is missing or of the wrong type");
  }

 private:
  void note(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }
  const nlohmann::json& object_;
  std::string wrong_;
};

}  // namespace torchwatch::orders
