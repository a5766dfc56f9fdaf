#pragma once

#include <algorithm>

#include "key.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::config {

/// One key of the elements of a list of tables ([[notify.webhook]]).
template <typename Element>
struct Field {
  std::string name;
  std::string allowed;        ///< empty: anything of the type
  bool is_required = false;   ///< else it may be left out
  bool is_inherited = false;  ///< where it is left out, the section's own key holds
  std::function<Status(const toml::node&, Element&)> read;
  std::function<std::string(const Element&)> write;
  std::function<void(const std::filesystem::path& folder, Element&)> resolve;
};

/// inherited: left out, it is as the section says, so its value is always shown.
enum class Need { required, optional, inherited };

/// Makes the field that sets a member of an element.
template <typename Element, typename T>
Field<Element> field(std::string name, T Element::* member, Allowed<T> allowed,
                     Need need = Need::required) {
  Field<Element> made;
  made.name = std::move(name);
  made.allowed = allowed.words;
  made.is_required = need == Need::required;
  made.is_inherited = need == Need::inherited;
  made.read = [=](const toml::node& node, Element& element) -> Status {
    T value{};
    TW_TRY_VOID(read(node, value));
    if (!allowed.holds(value)) {
      return fail(ErrorCode::invalid,
                  "invalid value " + write(value) + ": must be " + allowed.words);
    }
    element.*member = std::move(value);
    return {};
  };
  made.write = [=](const Element& element) { return write(element.*member); };
  made.resolve = [=](const std::filesystem::path& folder, Element& element) {
    resolve_value(folder, element.*member);
  };
  return made;
}

template <typename Element>
using Fields = std::vector<Field<Element>>;

template <typename Element>
std::string names_of(const Fields<Element>& fields) {
  std::string names;
  for (const auto& field : fields) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

/// What an unknown key of a table was probably meant to be, and what there is.
template <typename Element>
std::string keys_of(const Fields<Element>& fields, const std::string& unknown) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  return did_you_mean(unknown, names) + "keys: " + names_of(fields);
}

/// What the elements of a list must be beside what their fields allow.
template <typename Element>
struct ElementRules {
  /// Tells elements that must not both be there; empty: any may.
  std::function<bool(const Element&, const Element&)> is_alike = {};
  /// Says what is wrong with an element whose fields are right one by one.
  std::function<Status(const Element&)> check = [](const Element&) { return Status{}; };
};

/// Reads one table of the list. Errors name the key, and the line where that is another one than
/// the list's.
template <typename Element>
Result<Element> read_element(const toml::node& node, const Fields<Element>& fields) {
  const auto* table = node.as_table();
  if (table == nullptr) return fail(ErrorCode::invalid, "must be a table with " + names_of(fields));
  Element element{};
  for (const auto& [name, value] : *table) {
    const auto at = std::ranges::find(fields, std::string(name.str()), &Field<Element>::name);
    if (at == fields.end()) {
      return fail(ErrorCode::invalid, std::string(name.str()) + ": unknown key; " +
                                          keys_of(fields, std::string(name.str())));
    }
    if (auto read = at->read(value, element); !read) {
      const auto& error = read.error();
      return fail(ErrorCode::invalid, at->name + ": " + error.message);
    }
  }
  for (const auto& field : fields) {
    if (field.is_required && !table->contains(field.name)) {
      return fail(ErrorCode::invalid, field.name + " is missing");
    }
  }
  return element;
}

/// Writes one table of the list, without what may be left out and is.
template <typename Element>
std::string write_element(const Element& element, const Fields<Element>& fields) {
  const Element untold{};
  std::string values;
  for (const auto& field : fields) {
    auto value = field.write(element);
    const bool is_shown = field.is_required || field.is_inherited;
    if (!is_shown && value == field.write(untold)) continue;
    values += (values.empty() ? "" : ", ") + field.name + " = " + std::move(value);
  }
  return "{" + values + "}";
}

/// Makes a key whose value is a list of tables: each [[TABLE.NAME]] in the file is one element. A
/// list of none is written [], and inline tables are read, too.
template <typename Section, typename Element>
Key list_of_tables(std::string table, std::string name, Section Config::* section,
                   std::vector<Element> Section::* member, Fields<Element> fields,
                   std::string meaning, ElementRules<Element> rules = {}) {
  Key made;
  const auto written = "[[" + table + "." + name + "]]";
  made.table = std::move(table);
  made.name = std::move(name);
  made.type = "list of tables";
  made.allowed = written + " with " + names_of(fields);
  made.meaning = std::move(meaning);
  made.read = [=](const toml::node& node, Config& config) -> Status {
    const auto* list = node.as_array();
    if (list == nullptr) return fail(ErrorCode::invalid, "must be a list: " + written);
    std::vector<Element> elements;
    for (const auto& each : *list) {
      auto element = read_element(each, fields);
      if (const auto right = element ? rules.check(*element) : Status{}; !right) {
        element = fail(right.error());
      }
      const auto place = written + " number " + std::to_string(elements.size() + 1) + " (line " +
                         std::to_string(each.source().begin.line) + "): ";
      if (!element) return fail(ErrorCode::invalid, place + element.error().message);
      const bool is_twice =
          rules.is_alike && std::ranges::any_of(elements, [&](const Element& other) {
            return rules.is_alike(*element, other);
          });
      if (is_twice) return fail(ErrorCode::invalid, place + "is there twice");
      elements.push_back(std::move(*element));
    }
    config.*section.*member = std::move(elements);
    return {};
  };
  made.write = [=](const Config& config) {
    std::string text;
    for (const auto& element : config.*section.*member) {
      text += (text.empty() ? "" : ", ") + write_element(element, fields);
    }
    return "[" + text + "]";
  };
  made.resolve = [=](const std::filesystem::path& folder, Config& config) {
    for (auto& element : config.*section.*member) {
      for (const auto& field : fields) field.resolve(folder, element);
    }
  };
  return made;
}

}  // namespace torchwatch::config
