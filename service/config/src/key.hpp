#pragma once

#include <string>

#include "key_table.hpp"
#include "torchwatch/values/allowed.hpp"
#include "torchwatch/values/units.hpp"
#include "torchwatch/values/value_format.hpp"
#include "words.hpp"

namespace torchwatch::config {

constexpr std::chrono::seconds kDay{86'400};
constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

inline void resolve_value(const std::filesystem::path& folder, std::filesystem::path& path) {
  if (!path.empty()) path = (folder / path).lexically_normal();
}
inline void resolve_value(const std::filesystem::path& folder,
                          std::vector<std::filesystem::path>& list) {
  for (auto& path : list) resolve_value(folder, path);
}
template <typename T>
void resolve_value(const std::filesystem::path&, T&) {}

/// Makes the key that sets a member of a section of the configuration.
template <typename Section, typename T>
Key key(std::string table, std::string name, Section Config::* section, T Section::* member,
        Allowed<T> allowed, std::string meaning) {
  Key made;
  made.table = std::move(table);
  made.name = std::move(name);
  made.type = type_of(T{});
  made.allowed = allowed.words;
  made.meaning = std::move(meaning);
  made.read = [=](const toml::node& node, Config& config) -> Status {
    T value{};
    TW_TRY_VOID(read(node, value));
    if (!allowed.holds(value)) {
      return fail(ErrorCode::invalid,
                  "invalid value " + write(value) + ": must be " + allowed.words);
    }
    config.*section.*member = std::move(value);
    return {};
  };
  made.write = [=](const Config& config) { return write(config.*section.*member); };
  made.resolve = [=](const std::filesystem::path& folder, Config& config) {
    resolve_value(folder, config.*section.*member);
  };
  return made;
}

/// The word in the place of a recipe that means the workflow of [actions].
inline constexpr const char* kActions = "actions";

/// Add the keys of what the service offers and whom it tells, table by table.
void add_service(std::vector<Key>&);
void add_executor_kind(std::vector<Key>&);
void add_slurm(std::vector<Key>&);
void add_actions(std::vector<Key>&);
void add_external(std::vector<Key>&);
void add_web(std::vector<Key>&);
void add_oidc(std::vector<Key>&);
void add_reports(std::vector<Key>&);
void add_upkeep(std::vector<Key>&);
void add_notices(std::vector<Key>&);
void add_owners(std::vector<Key>&);

}  // namespace torchwatch::config
