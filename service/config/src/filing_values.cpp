#include <algorithm>
#include <array>

#include "allowed.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "value_format.hpp"

// The values of [github] that say when an issue is filed and whom it reaches.

namespace torchwatch::config {
namespace {

using Word = std::pair<FileWhen, std::string_view>;
constexpr std::array kTimes{Word{FileWhen::searched, "searched"}, Word{FileWhen::named, "named"},
                            Word{FileWhen::at_once, "at_once"}};

/// A key of [[github.owners]].
struct OwnerKey {
  std::string_view name;
  std::vector<std::string> Owner::* member;
};
constexpr std::array kOwnerKeys{OwnerKey{"paths", &Owner::paths},
                                OwnerKey{"workloads", &Owner::workloads},
                                OwnerKey{"notify", &Owner::notify}};

Error unknown_key(const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const auto& key : kOwnerKeys) {
    names.emplace_back(key.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const auto near = nearest(name, names);
  return {ErrorCode::invalid, name + ": unknown key",
          (near.empty() ? "" : "did you mean \"" + near.front() + "\"? ") + "keys: " + all};
}

Status check(const Owner& owner) {
  if (owner.paths.empty() && owner.workloads.empty()) {
    return fail(ErrorCode::invalid, "paths, workloads: one of them must say what is owned");
  }
  const auto people = logins();
  if (owner.notify.empty() || !people.holds(owner.notify)) {
    return fail(ErrorCode::invalid,
                "notify: invalid value " + write(owner.notify) + ": must be " + people.words);
  }
  const auto is_bad = [](const std::string& pattern) {
    return pattern.empty() || pattern.front() == '/' ||
           pattern.find_first_of("[\\") != std::string::npos;
  };
  if (const auto bad = std::ranges::find_if(owner.paths, is_bad); bad != owner.paths.end()) {
    return fail(ErrorCode::invalid, "paths: invalid pattern " + write(*bad) +
                                        ": must be a path below the repository's root, in which "
                                        "only * and ? stand for others");
  }
  return {};
}

Result<Owner> owner_of(const toml::table& table) {
  Owner owner;
  for (const auto& [name, node] : table) {
    const auto key = std::ranges::find(kOwnerKeys, name.str(), &OwnerKey::name);
    if (key == kOwnerKeys.end()) return fail(unknown_key(std::string(name.str())));
    const auto status = read(node, owner.*key->member);
    if (!status) return fail(status.error().within(std::string(name.str())));
  }
  TW_TRY_VOID(check(owner));
  return owner;
}

}  // namespace

std::string type_of(FileWhen) {
  return "word";
}
std::string type_of(const std::vector<Owner>&) {
  return "list of tables";
}

Status read(const toml::node& node, FileWhen& value) {
  std::string text;
  TW_TRY_VOID(read(node, text));
  const auto found = std::ranges::find(kTimes, text, &Word::second);
  if (found == kTimes.end()) {
    return fail(ErrorCode::invalid,
                "invalid value " + write(text) + ": must be one of searched, named, at_once");
  }
  value = found->first;
  return {};
}

Status read(const toml::node& node, std::vector<Owner>& value) {
  const auto not_tables = [] {
    return fail(ErrorCode::invalid, "must be tables: write [[github.owners]] on a line of its own");
  };
  const auto* array = node.as_array();
  if (array == nullptr) return not_tables();
  value.clear();
  for (const auto& element : *array) {
    const auto* table = element.as_table();
    if (table == nullptr) return not_tables();
    auto owner = owner_of(*table);
    if (!owner) {
      const auto line = std::to_string(table->source().begin.line);
      return fail(owner.error().within("the table on line " + line));
    }
    value.push_back(*std::move(owner));
  }
  return {};
}

std::string write(FileWhen value) {
  return write(std::string(std::ranges::find(kTimes, value, &Word::first)->second));
}

std::string write(const std::vector<Owner>& value) {
  std::string text;
  for (const auto& owner : value) {
    std::string members;
    for (const auto& key : kOwnerKeys) {
      const auto& list = owner.*key.member;
      if (list.empty()) continue;
      members += (members.empty() ? "" : ", ") + std::string(key.name) + " = " + write(list);
    }
    text += (text.empty() ? "{ " : ", { ") + members + " }";
  }
  return "[" + text + "]";
}

}  // namespace torchwatch::config
