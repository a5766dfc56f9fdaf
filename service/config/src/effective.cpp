#include "torchwatch/config/effective.hpp"

#include <toml++/toml.h>

#include <map>

#include "key_table.hpp"
#include "torchwatch/log/log.hpp"

namespace torchwatch::config {
namespace {

void add_lines(const std::string& table, const toml::table& content,
               std::map<std::string, int>& lines) {
  for (const auto& [name, value] : content) {
    const auto key = table + "." + std::string(name.str());
    if (value.is_table()) add_lines(key, *value.as_table(), lines);
    lines[key] = static_cast<int>(name.source().begin.line);
  }
}

/// Returns the line of each key that a file which was loaded before sets: "web.port".
std::map<std::string, int> lines_of(const std::filesystem::path& file) {
  std::map<std::string, int> lines;
  try {
    const auto root = toml::parse_file(file.string());
    for (const auto& [table, node] : root) {
      if (node.is_table()) add_lines(std::string(table.str()), *node.as_table(), lines);
    }
  } catch (const toml::parse_error&) {
    // It changed since it was loaded: the values are those of before.
    lines.clear();
  }
  return lines;
}

}  // namespace

Result<std::vector<EffectiveValue>> effective_values(const std::filesystem::path& file,
                                                     bool required) {
  TW_TRY(const auto config, load(file, required));
  const auto lines = config.file.empty() ? std::map<std::string, int>{} : lines_of(file);
  const auto described = keys();
  const auto& table = key_table();
  std::vector<EffectiveValue> values;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto line = lines.find(table[i].table + "." + table[i].name);
    values.push_back({.key = described[i],
                      .value = log::redact(table[i].write(config)),
                      .line = line == lines.end() ? 0 : line->second});
  }
  return values;
}

}  // namespace torchwatch::config
