#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "key.hpp"
#include "problems.hpp"
#include "slurm_classes.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileLimitBytes = 1 << 20;

/// Returns the file's text, or nothing if there is no such file.
Result<std::optional<std::string>> read_text(const fs::path& file) {
  std::error_code problem;
  const auto status = fs::status(file, problem);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (status.type() == fs::file_type::directory) {
    return fail(ErrorCode::invalid, file.string() + " is a folder",
                "name the configuration file itself");
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(kFileLimitBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream && !stream.eof()) {
    return fail(ErrorCode::unavailable, "cannot read configuration " + file.string(),
                "check its permissions");
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kFileLimitBytes) {
    return fail(ErrorCode::invalid, file.string() + " is larger than 1 MiB",
                "is it the right file?");
  }
  return text;
}

Result<toml::table> parse(const std::string& text, const fs::path& file) {
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    std::ostringstream message;
    message << file.string() << ":" << error.source().begin.line << ": " << error.description();
    return fail(ErrorCode::invalid, message.str());
  }
}

std::vector<std::string> tables() {
  std::vector<std::string> names;
  for (const auto& key : key_table()) {
    if (names.empty() || names.back() != key.table) names.push_back(key.table);
  }
  return names;
}

std::vector<std::string> keys_of(std::string_view table) {
  std::vector<std::string> names;
  for (const auto& key : key_table()) {
    if (key.table == table) names.push_back(key.name);
  }
  return names;
}

const Key* find(std::string_view table, std::string_view name) {
  const auto& known = key_table();
  const auto at = std::find_if(known.begin(), known.end(), [&](const Key& key) {
    return key.table == table && key.name == name;
  });
  return at == known.end() ? nullptr : &*at;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Returns a key of that name in another table, as "[table] name"; empty if no table has one.
std::string elsewhere(std::string_view name) {
  const auto& known = key_table();
  const auto at =
      std::find_if(known.begin(), known.end(), [&](const Key& key) { return key.name == name; });
  return at == known.end() ? "" : "[" + at->table + "] " + at->name;
}

/// A key that had another name in an earlier version.
struct RenamedKey {
  std::string_view table;
  std::string_view name;  ///< empty: the whole table was renamed
  std::string_view now;   ///< "[measure] interleave"
};

constexpr std::array kRenamedKeys{
    RenamedKey{"measure", "take_turns", "[measure] interleave"},
    RenamedKey{"detect", "creep_every", "[detect] drift_every"},
    RenamedKey{"detect", "creep_span", "[detect] drift_span"},
};

/// What the key, or the table if `name` is empty, is called now; empty if it was never renamed.
std::string_view name_now(std::string_view table, std::string_view name) {
  for (const auto& key : kRenamedKeys) {
    if (key.table == table && key.name == name) return key.now;
  }
  return {};
}

/// Says what a key (or a table, if `name` is empty) of an earlier version is called now; else
/// empty.
std::string renamed(const std::string& table, const std::string& name) {
  const auto now = name_now(table, name);
  if (now.empty()) return {};
  return "[" + table + "] " + name + (name.empty() ? "" : " ") + "is now called " +
         std::string(now);
}

Error unknown_key(const std::string& table, const std::string& name) {
  if (auto text = renamed(table, name); !text.empty()) return {ErrorCode::invalid, text};
  std::string meant;
  const auto near = nearest(name, keys_of(table));
  const auto other = elsewhere(name);
  if (!near.empty()) {
    meant = "did you mean \"" + near.front() + "\"? ";
  } else if (!other.empty()) {
    meant = "did you mean " + other + "? ";
  }
  return {ErrorCode::invalid, "[" + table + "] " + name + ": unknown key",
          meant + "keys of [" + table + "]: " + listed(keys_of(table))};
}

Error unknown_table(const std::string& name, bool is_table) {
  if (auto text = renamed(name, ""); is_table && !text.empty()) return {ErrorCode::invalid, text};
  const auto near = nearest(name, tables());
  const auto other = is_table ? "" : elsewhere(name);
  std::string meant;
  if (!other.empty()) {
    meant = "did you mean " + other + "? ";
  } else if (!near.empty()) {
    meant = "did you mean [" + near.front() + "]? ";
  }
  return {ErrorCode::invalid,
          is_table ? "[" + name + "]: unknown table" : name + ": key outside any table",
          meant + "tables: " + listed(tables())};
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void apply_key(const Key& key, const toml::node& node, Config& config, Problems& problems) {
  const auto status = key.read(node, config);
  if (status) return;
  const auto what = status.error().text();
  const bool names_allowed = key.allowed.empty() || what.find(key.allowed) != std::string::npos ||
                             what.find("allowed: ") != std::string::npos;
  problems.add(node.source(), "[" + key.table + "] " + key.name + ": " + what +
                                  (names_allowed ? "" : " (" + key.allowed + ")"));
}

void apply_table(const std::string& name, const toml::table& content, Config& config,
                 Problems& problems) {
  for (const auto& [key_name, node] : content) {
    const auto* key = find(name, key_name.str());
    const auto below = name + "." + std::string(key_name.str());
    if (node.is_table() && is_among(tables(), below)) {
      apply_table(below, *node.as_table(), config, problems);
      continue;
    }
    if (key != nullptr) {
      apply_key(*key, node, config, problems);
    } else {
      const auto unknown = unknown_key(name, std::string(key_name.str()));
      problems.add(key_name.source(), unknown.message, unknown.remedy);
    }
  }
}

void apply(const toml::table& root, Config& config, Problems& problems) {
  const auto known = tables();
  for (const auto& [table_name, node] : root) {
    const std::string name(table_name.str());
    if (!is_among(known, name)) {
      const auto unknown = unknown_table(name, node.is_table());
      problems.add(table_name.source(), unknown.message, unknown.remedy);
    } else if (!node.is_table()) {
      problems.add(node.source(), name + ": is a table",
                   "write [" + name + "] on a line of its own");
    } else {
      apply_table(name, *node.as_table(), config, problems);
    }
  }
}

/// A gate that the file does not set keeps its default's proportion to the threshold. One that it
/// sets must not be above the threshold.
void fit_gate(const toml::table& root, Config::Detect& detect, Problems& problems) {
  static const double kProportion = Config::Detect{}.gate / Config::Detect{}.threshold;
  const auto* node = root["detect"]["gate"].node();
  if (node == nullptr) {
    detect.gate = detect.threshold * kProportion;
  } else if (detect.gate > detect.threshold) {
    problems.add(node->source(), "[detect] gate: invalid value " + write(detect.gate) +
                                     ": must be at most the threshold, " + write(detect.threshold));
  }
}

/// An exact threshold that the file does not set is not above the threshold; one that it sets must
/// not be.
void fit_exact_threshold(const toml::table& root, Config::Detect& detect, Problems& problems) {
  const auto* node = root["detect"]["exact_threshold"].node();
  if (node == nullptr) {
    detect.exact_threshold = std::min(detect.exact_threshold, detect.threshold);
  } else if (detect.exact_threshold > detect.threshold) {
    problems.add(node->source(), "[detect] exact_threshold: invalid value " +
                                     write(detect.exact_threshold) +
                                     ": must be at most the threshold, " + write(detect.threshold));
  }
}

/// There is no index of archives that everybody has, as pip has one of wheels.
void require_index(const toml::table& root, const Config::Channel& channel, Problems& problems) {
  if (channel.kind != ChannelKind::archive || !channel.index.empty()) return;
  problems.add(root["channel"]["kind"].node()->source(),
               "[channel] index: must be set where kind is archive, to a page of links to "
               "archives, or to their address with {date} in it");
}

/// What Python imports is in wheels alone; a directory channel takes its trees as they are.
void refuse_python(const toml::table& root, const Config::Channel& channel, Problems& problems) {
  if (!channel.python || channel.kind == ChannelKind::wheel_index) return;
  const std::string advice = channel.kind == ChannelKind::archive
                                 ? "an archive has no Python part"
                                 : "a folder's trees have the Python part that you put there";
  problems.add(root["channel"]["python"].node()->source(),
               "[channel] python: can be true only where kind is wheel-index", advice);
}

/// What nobody else has made is built.
void require_recipe(const toml::table& root, const Config::Build& build, Problems& problems) {
  if (build.artifacts.empty() || !build.recipe.empty()) return;
  problems.add(root["build"]["artifacts"].node()->source(),
               "[build] artifacts: needs [build] recipe, which builds the commits that nobody else "
               "has built");
}

void require_repository(const toml::table& root, const Config& config, Problems& problems) {
  if (!is_built_by_actions(config) || !config.actions.repository.empty()) return;
  problems.add(root["build"]["recipe"].node()->source(),
               "[actions] repository: must be set where [build] recipe is \"actions\", to the "
               "repository whose workflow builds");
}

/// A token for another service must not count here.
void require_audience(const toml::table& root, const Config::Web& web, Problems& problems) {
  const bool is_named = std::ranges::none_of(
      web.oidc, [](const auto& workflow) { return workflow.audience.empty(); });
  if (is_named || !web.public_address.empty()) return;
  problems.add(root["web"]["oidc"].node()->source(),
               "[[web.oidc]] audience: must be set where [web] public_address is not, to the "
               "address that workflows ask");
}

void resolve(const fs::path& folder, Config& config) {
  for (const auto& key : key_table()) key.resolve(folder, config);
}

}  // namespace

Result<Config> load(const fs::path& file, bool required) {
  TW_TRY(const auto text, read_text(file));
  if (!text && required) {
    return fail(ErrorCode::not_found, "there is no configuration " + file.string(),
                "`torchwatch init --config " + file.string() + "` writes one");
  }
  Config config;
  config.folder = fs::absolute(file).lexically_normal().parent_path();
  if (text) {
    config.file = fs::absolute(file).lexically_normal();
    TW_TRY(const auto root, parse(*text, file));
    Problems problems(file);
    apply(root, config, problems);
    fit_gate(root, config.detect, problems);
    fit_exact_threshold(root, config.detect, problems);
    require_index(root, config.channel, problems);
    refuse_python(root, config.channel, problems);
    require_repository(root, config, problems);
    require_recipe(root, config.build, problems);
    require_audience(root, config.web, problems);
    fit_classes(root, config, problems);
    TW_TRY_VOID(problems.status());
  }
  resolve(config.folder, config);
  return config;
}

}  // namespace torchwatch::config
