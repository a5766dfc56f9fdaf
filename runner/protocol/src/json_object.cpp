#include "json_object.hpp"

#include <algorithm>

#include "torchwatch/protocol/result.hpp"

namespace torchwatch::protocol {
namespace {

using nlohmann::json;

constexpr std::size_t kMapEntriesMax = 4096;
constexpr std::size_t kMapTextBytesMax = 8192;

/// Returns a whole number within the range; nlohmann keeps numbers that exceed int64 as unsigned.
std::optional<std::int64_t> whole_number(const json& value, Range range) {
  if (!value.is_number_integer()) return {};
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return {};
  }
  const auto number = value.get<std::int64_t>();
  if (number < range.least || number > range.most) return {};
  return number;
}

std::string describe(Range range) {
  std::string from = "must be a whole number from " + std::to_string(range.least);
  if (range.most == std::numeric_limits<std::int64_t>::max()) return from;
  return from + " to " + std::to_string(range.most);
}

/// Watches JSON while it is parsed, and finds what is never taken: levels without end, and a member
/// that an object names twice, of which nlohmann-json takes the last and other readers the first.
class Guard {
 public:
  /// Whether the value is kept; after a fault none is, so nothing deep is ever built.
  bool admits(int depth, json::parse_event_t event, const json& parsed) {
    if (!fault_.empty()) return false;
    if (depth > kJsonDepthMax) {
      fault_ = "the JSON is nested deeper than " + std::to_string(kJsonDepthMax) + " levels";
    } else if (event == json::parse_event_t::object_start) {
      members_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      members_.pop_back();
    } else if (event == json::parse_event_t::key &&
               !members_.back().insert(parsed.get<std::string>()).second) {
      fault_ = "member \"" + parsed.get<std::string>() + "\" is there twice";
    }
    return fault_.empty();
  }
  /// Empty where there is none.
  const std::string& fault() const { return fault_; }

 private:
  std::vector<std::set<std::string>> members_;  ///< of each object that is open
  std::string fault_;
};

}  // namespace

Result<json> parse_object(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return fail(ErrorCode::corrupt, "the JSON has " + std::to_string(text.size()) +
                                        " bytes; at most " + std::to_string(bytes_max) +
                                        " are read");
  }
  Guard guard;
  json value;
  try {
    value = json::parse(text.begin(), text.end(),
                        [&](int depth, json::parse_event_t event, const json& parsed) {
                          return guard.admits(depth, event, parsed);
                        });
  } catch (const json::exception& error) {
    return fail(ErrorCode::corrupt, std::string("not complete JSON: ") + error.what());
  }
  if (!guard.fault().empty()) return fail(ErrorCode::corrupt, guard.fault());
  if (!value.is_object()) return fail(ErrorCode::corrupt, "the JSON's root is not an object");
  return value;
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string ObjectReader::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

tl::unexpected<Error> ObjectReader::wrong(std::string_view name, std::string_view must) const {
  return fail(ErrorCode::invalid, "member \"" + path_of(name) + "\" " + std::string(must));
}

const json* ObjectReader::find(std::string_view name) {
  known_.insert(std::string(name));
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

Result<std::int64_t> ObjectReader::integer(std::string_view name, Range range,
                                           std::optional<std::int64_t> fallback) {
  const json* value = find(name);
  if (value == nullptr)
    return fallback ? Result<std::int64_t>(*fallback) : wrong(name, "is missing");
  const auto number = whole_number(*value, range);
  if (!number) return wrong(name, describe(range));
  return *number;
}

Result<std::optional<std::int64_t>> ObjectReader::integer_if_there(std::string_view name,
                                                                   Range range) {
  const json* value = find(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return integer(name, range);
}

Result<std::uint64_t> ObjectReader::natural(std::string_view name, std::uint64_t fallback) {
  const json* value = find(name);
  if (value == nullptr) return fallback;
  if (!value->is_number_unsigned()) return wrong(name, "must be a whole number from 0");
  return value->get<std::uint64_t>();
}

Result<double> ObjectReader::number(std::string_view name, double least, double most,
                                    double fallback) {
  const json* value = find(name);
  if (value == nullptr) return fallback;
  const auto number = value->is_number() ? value->get<double>() : least - 1;
  if (number >= least && number <= most) return number;
  return wrong(name, "must be a number from " + json(least).dump() + " to " + json(most).dump());
}

Result<bool> ObjectReader::boolean(std::string_view name, bool fallback) {
  const json* value = find(name);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) return wrong(name, "must be true or false");
  return value->get<bool>();
}

Result<std::string> ObjectReader::text(std::string_view name, std::size_t bytes_max,
                                       std::optional<std::string> fallback) {
  const json* value = find(name);
  if (value == nullptr)
    return fallback ? Result<std::string>(*fallback) : wrong(name, "is missing");
  if (!value->is_string()) return wrong(name, "must be a string");
  auto spelling = value->get<std::string>();
  if (spelling.size() > bytes_max) {
    return wrong(name, "must have at most " + std::to_string(bytes_max) + " bytes");
  }
  return spelling;
}

Result<std::vector<std::int64_t>> ObjectReader::integers(std::string_view name, Range range,
                                                         std::size_t count_max) {
  std::vector<std::int64_t> numbers;
  const json* value = find(name);
  if (value == nullptr) return numbers;
  if (!value->is_array() || value->size() > count_max) {
    return wrong(name, "must be a list of at most " + std::to_string(count_max) + " numbers");
  }
  numbers.reserve(value->size());
  for (const json& element : *value) {
    const auto number = whole_number(element, range);
    if (!number) {
      return wrong(std::string(name) + "[" + std::to_string(numbers.size()) + "]", describe(range));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Result<double> ObjectReader::figure(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr) return wrong(name, "is missing");
  if (value->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value->is_number()) return wrong(name, "must be a number, or null for what is not finite");
  return value->get<double>();
}

Result<std::vector<double>> ObjectReader::figures(std::string_view name, std::size_t count_max) {
  std::vector<double> figures;
  const json* value = find(name);
  if (value == nullptr) return figures;
  const auto is_figure = [](const json& each) { return each.is_number() || each.is_null(); };
  if (!value->is_array() || value->size() > count_max || !std::ranges::all_of(*value, is_figure)) {
    return wrong(name, "must be a list of at most " + std::to_string(count_max) +
                           " numbers, null for what is not finite");
  }
  for (const json& each : *value) {
    figures.push_back(each.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                     : each.get<double>());
  }
  return figures;
}

Result<std::vector<std::string>> ObjectReader::texts(std::string_view name, std::size_t count_max) {
  std::vector<std::string> texts;
  const json* value = find(name);
  if (value == nullptr) return texts;
  const auto is_text = [](const json& element) { return element.is_string(); };
  if (!value->is_array() || value->size() > count_max || !std::ranges::all_of(*value, is_text)) {
    return wrong(name, "must be a list of at most " + std::to_string(count_max) + " strings");
  }
  for (const json& element : *value) texts.push_back(element.get<std::string>());
  return texts;
}

Result<std::map<std::string, std::int64_t>> ObjectReader::integer_map(std::string_view name,
                                                                      Range range) {
  std::map<std::string, std::int64_t> numbers;
  TW_TRY(auto entries, object(name));
  if (!entries) return numbers;
  if (entries->object_.size() > kMapEntriesMax) return wrong(name, "has too many members");
  for (const auto& [key, value] : entries->object_.items()) {
    TW_TRY(numbers[key], entries->integer(key, range));
  }
  return numbers;
}

Result<std::map<std::string, std::string>> ObjectReader::text_map(std::string_view name) {
  std::map<std::string, std::string> texts;
  TW_TRY(auto entries, object(name));
  if (!entries) return texts;
  if (entries->object_.size() > kMapEntriesMax) return wrong(name, "has too many members");
  for (const auto& [key, value] : entries->object_.items()) {
    TW_TRY(texts[key], entries->text(key, kMapTextBytesMax));
  }
  return texts;
}

Result<std::optional<ObjectReader>> ObjectReader::object(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr || value->is_null()) return std::optional<ObjectReader>();
  if (!value->is_object()) return wrong(name, "must be an object");
  return std::optional<ObjectReader>(std::in_place, *value, path_of(name));
}

Result<std::vector<ObjectReader>> ObjectReader::objects(std::string_view name,
                                                        std::size_t count_max) {
  std::vector<ObjectReader> objects;
  const json* value = find(name);
  if (value == nullptr || value->is_null()) return objects;
  const auto is_object = [](const json& each) { return each.is_object(); };
  if (!value->is_array() || value->size() > count_max || !std::ranges::all_of(*value, is_object)) {
    return wrong(name, "must be a list of at most " + std::to_string(count_max) + " objects");
  }
  for (const json& each : *value) {
    objects.emplace_back(each, path_of(name) + "[" + std::to_string(objects.size()) + "]");
  }
  return objects;
}

Status ObjectReader::refuse_unknown() const {
  for (const auto& [name, value] : object_.items()) {
    if (known_.contains(name)) continue;
    std::string allowed;
    for (const auto& each : known_) allowed += (allowed.empty() ? "" : ", ") + each;
    return wrong(name, "is not known; allowed: " + allowed);
  }
  return {};
}

}  // namespace torchwatch::protocol
