#include "key_table.hpp"
#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

std::vector<KeyDescription> keys() {
  const Config defaults;
  std::vector<KeyDescription> descriptions;
  for (const auto& key : key_table()) {
    descriptions.push_back({.table = key.table,
                            .name = key.name,
                            .type = key.type,
                            .default_value = key.write(defaults),
                            .allowed = key.allowed,
                            .meaning = key.meaning});
  }
  return descriptions;
}

std::string example() {
  std::string text =
      "# Every key of torchwatch.toml with its default. Take away the # before what you change.\n"
      "# Paths are relative to the file. Durations: \"30d\", \"4h\", \"30m\", \"90s\", \"500ms\".\n"
      "# Sizes: \"40GiB\", \"512MiB\", \"40GB\" (10^9 each) or whole bytes.\n";
  std::string table;
  for (const auto& key : keys()) {
    if (key.table != table) text += "\n[" + key.table + "]\n";
    table = key.table;
    text += "# " + key.meaning + "\n";
    text += "#   " + key.type + (key.allowed.empty() ? "" : ": " + key.allowed) + "\n";
    text += "#" + key.name + " = " + key.default_value + "\n";
  }
  return text;
}

}  // namespace torchwatch::config
