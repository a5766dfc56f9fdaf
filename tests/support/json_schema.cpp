#include "json_schema.hpp"

#include <algorithm>
#include <regex>

namespace torchwatch::test {
namespace {

using nlohmann::json;
using Violations = std::vector<std::string>;

std::string place(const std::string& where) {
  return where.empty() ? "the value" : where;
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "null") return value.is_null();
  return false;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// The checks of one schema on one value; alternatives and members call back into it.
class Check {
 public:
  Check(const json& document, const json& schema, const json& value, const std::string& where)
      : document_(document), schema_(schema), value_(value), where_(where) {}

  Violations run() {
    if (value_.is_null() && schema_.value("nullable", false)) return {};
    check_type();
    check_enum();
    check_alternatives();
    if (value_.is_object()) check_object();
    if (value_.is_array()) check_array();
    if (value_.is_string()) check_string();
    if (value_.is_number()) check_number();
    return std::move(violations_);
  }

 private:
  void complain(const std::string& what) { violations_.push_back(place(where_) + ": " + what); }

  void descend(const json& schema, const json& value, const std::string& where) {
    auto inner = schema_violations(document_, schema, value, where);
    violations_.insert(violations_.end(), inner.begin(), inner.end());
  }

  void check_type() {
    const auto type = schema_.find("type");
    if (type == schema_.end()) return;
    const json types = type->is_array() ? *type : json::array({*type});
    const bool fits = std::any_of(types.begin(), types.end(), [this](const json& allowed) {
      return has_type(value_, allowed.get<std::string>());
    });
    if (!fits) complain("is a " + std::string(value_.type_name()) + ", not " + types.dump());
  }

  void check_enum() {
    const auto allowed = schema_.find("enum");
    if (allowed == schema_.end()) return;
    if (std::find(allowed->begin(), allowed->end(), value_) == allowed->end()) {
      complain(value_.dump() + " is not one of " + allowed->dump());
    }
  }

  int fitting(const json& alternatives) const {
    return static_cast<int>(
        std::count_if(alternatives.begin(), alternatives.end(), [this](const json& schema) {
          return schema_violations(document_, schema, value_, where_).empty();
        }));
  }

  void check_alternatives() {
    if (const auto any = schema_.find("anyOf"); any != schema_.end() && fitting(*any) == 0) {
      complain("fits none of anyOf");
    }
    if (const auto one = schema_.find("oneOf"); one != schema_.end() && fitting(*one) != 1) {
      complain("fits " + std::to_string(fitting(*one)) + " of oneOf");
    }
    if (const auto all = schema_.find("allOf"); all != schema_.end()) {
      for (const auto& schema : *all) descend(schema, value_, where_);
    }
  }

  void check_object() {
    for (const auto& name : schema_.value("required", json::array())) {
      if (!value_.contains(name.get<std::string>())) complain("lacks " + name.dump());
    }
    const json properties = schema_.value("properties", json::object());
    const json others = schema_.value("additionalProperties", json(true));
    for (const auto& [name, member] : value_.items()) {
      const std::string inner = where_ + "/" + name;
      if (properties.contains(name)) {
        descend(properties[name], member, inner);
      } else if (others.is_object()) {
        descend(others, member, inner);
      } else if (!others.get<bool>()) {
        complain("has the unknown member \"" + name + "\"");
      }
    }
  }

  void check_array() {
    check_bounds("Items", value_.size());
    const auto items = schema_.find("items");
    if (items == schema_.end()) return;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      descend(*items, value_[i], where_ + "/" + std::to_string(i));
    }
  }

  void check_string() {
    const auto text = value_.get<std::string>();
    check_bounds("Length", characters(text));
    const auto pattern = schema_.find("pattern");
    if (pattern != schema_.end() &&
        !std::regex_search(text, std::regex(pattern->get<std::string>()))) {
      complain(value_.dump() + " does not match " + pattern->dump());
    }
  }

  void check_number() {
    const double number = value_.get<double>();
    if (schema_.contains("minimum") && number < schema_["minimum"].get<double>()) {
      complain("is below " + schema_["minimum"].dump());
    }
    if (schema_.contains("maximum") && number > schema_["maximum"].get<double>()) {
      complain("is above " + schema_["maximum"].dump());
    }
  }

  void check_bounds(const std::string& what, std::size_t size) {
    if (size < schema_.value("min" + what, std::size_t{0})) complain("is too short");
    if (schema_.contains("max" + what) && size > schema_["max" + what].get<std::size_t>()) {
      complain("is too long");
    }
  }

  const json& document_;
  const json& schema_;
  const json& value_;
  const std::string& where_;
  Violations violations_;
};

}  // namespace

const json& resolved(const json& document, const json& node) {
  const json* at = &node;
  while (at->is_object() && at->contains("$ref")) {
    at = &document.at(json::json_pointer((*at)["$ref"].get<std::string>().substr(1)));
  }
  return *at;
}

std::vector<std::string> schema_violations(const json& document, const json& schema,
                                           const json& value, const std::string& where) {
  return Check(document, resolved(document, schema), value, where).run();
}

}  // namespace torchwatch::test
