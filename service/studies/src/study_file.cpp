#include "torchwatch/studies/study_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "torchwatch/documents/study.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::studies {
namespace {

constexpr std::size_t kFileBytesMax = 1U << 20U;
constexpr std::size_t kTextMax = 2000;
constexpr std::size_t kNameMax = 200;

const std::vector<std::string> kSelectionKeys{"workloads", "configurations", "metrics", "preset"};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// One table of the file, which knows where it stands.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  int line() const { return static_cast<int>(table_.source().begin.line); }

  Error wrong(const toml::node& at, const std::string& what, const std::string& remedy = {}) const {
    const auto place = file_ + ":" + std::to_string(at.source().begin.line) + ": ";
    return {ErrorCode::invalid, place + what, remedy};
  }
  Error wrong(const std::string& what, const std::string& remedy = {}) const {
    return wrong(table_, what, remedy);
  }
  /// The error of a value, with the key and its place in front.
  Error within(const std::string& key, const Error& error) const {
    return wrong(*table_.get(key), key + ": " + error.message, error.remedy);
  }

  Status refuse_unknown(std::vector<std::string> known) const {
    known.insert(known.end(), kSelectionKeys.begin(), kSelectionKeys.end());
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::ranges::find(known, name) != known.end()) continue;
      return fail(wrong(node, "unknown key \"" + name + "\": must be one of " + listed(known),
                        did_you_mean(name, known)));
    }
    return {};
  }

  /// Empty where the key is absent.
  Result<std::string> text(const std::string& key, std::size_t characters_max) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return std::string();
    const auto value = node->value<std::string>();
    if (value && node->is_string() && !value->empty() && value->size() <= characters_max) {
      return *value;
    }
    return fail(wrong(*node, "invalid " + key + ": must be a text of 1 to " +
                                 std::to_string(characters_max) + " characters"));
  }
  Result<std::string> required_text(const std::string& key) const {
    if (table_.contains(key)) return text(key, kNameMax);
    return fail(wrong("a [[pair]] has no " + key,
                      "write name, between and and: two settings such as \"threads=1\""));
  }

  /// Leaves `words` as they are where the key is absent.
  template <typename T, typename Parse>
  Status words(const std::string& key, Parse parse, std::vector<T>& words) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return {};
    const auto* array = node->as_array();
    if (array == nullptr) {
      return fail(wrong(*node, "invalid " + key + ": must be a list such as [\"...\"]"));
    }
    if (array->empty()) {
      return fail(wrong(*node, "invalid " + key + ": the list is empty",
                        "leave it out for all that [suite] has"));
    }
    words.clear();
    for (const auto& each : *array) {
      const auto word = each.value<std::string>();
      if (!each.is_string() || !word) return fail(wrong(each, key + " must be texts"));
      Result<T> parsed = parse(*word);
      if (!parsed) return fail(wrong(each, key + ": " + parsed.error().message));
      words.push_back(*std::move(parsed));
    }
    return {};
  }

  Status selection(comparison::Selection& selection) const {
    const auto as_it_is = [](const std::string& name) -> Result<std::string> { return name; };
    TW_TRY_VOID(words("workloads", as_it_is, selection.workloads));
    TW_TRY_VOID(words("configurations", parse_configuration, selection.configurations));
    TW_TRY_VOID(words("metrics", parse_judged_metric, selection.metrics));
    if (!table_.contains("preset")) return {};
    TW_TRY(const auto word, text("preset", kNameMax));
    const auto preset = parse_preset(word);
    if (!preset) return fail(within("preset", preset.error()));
    selection.preset = *preset;
    return {};
  }

  Result<storage::StudyRow> settings() const {
    storage::StudyRow row;
    TW_TRY(row.name, required_text("name"));
    for (const auto* key : {"between", "and"}) {
      TW_TRY(const auto text, required_text(key));
      const auto setting = comparison::parse_setting(text);
      if (!setting) return fail(within(key, setting.error()));
      (key == std::string_view("and") ? row.candidate : row.baseline) = to_string(*setting);
    }
    const auto sides = comparison::parse_sides(row.baseline, row.candidate);
    if (!sides) return fail(wrong("pair \"" + row.name + "\": " + sides.error().message));
    return row;
  }

 private:
  const toml::table& table_;
  std::string file_;
};

Result<Pair> pair_of(const TableReader& in, const comparison::Selection& common) {
  TW_TRY_VOID(in.refuse_unknown({"name", "between", "and"}));
  Pair pair{.selection = common, .line = in.line()};
  TW_TRY(pair.settings, in.settings());
  TW_TRY_VOID(in.selection(pair.selection));
  return pair;
}

Status add_pairs(const TableReader& in, const toml::table& root, const std::string& file,
                 StudyFile& study) {
  comparison::Selection common;
  TW_TRY_VOID(in.selection(common));
  const auto* pairs = root.get("pair") == nullptr ? nullptr : root.get("pair")->as_array();
  if (pairs == nullptr || !pairs->is_array_of_tables()) {
    return fail(ErrorCode::invalid, file + ": has no [[pair]]: there is nothing to compare",
                "write [[pair]] with name, between and and");
  }
  for (const auto& each : *pairs) {
    const TableReader table(*each.as_table(), file);
    TW_TRY(auto pair, pair_of(table, common));
    const bool is_known = std::ranges::any_of(
        study.pairs, [&](const Pair& other) { return other.settings.name == pair.settings.name; });
    if (is_known) {
      return fail(table.wrong("two pairs have the name \"" + pair.settings.name + "\"",
                              "give each its own"));
    }
    study.pairs.push_back(std::move(pair));
  }
  return {};
}

Result<toml::table> toml_of(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    std::ostringstream message;
    message << name << ":" << error.source().begin.line << ": " << error.description();
    return fail(ErrorCode::invalid, message.str(),
                "a study is a TOML file; studies/ has examples, docs/studies.md describes it");
  }
}

}  // namespace

Result<StudyFile> parse_study_file(std::string_view text, const std::string& name) {
  TW_TRY(const auto root, toml_of(text, name));
  const TableReader in(root, name);
  TW_TRY_VOID(in.refuse_unknown({"title", "about", "pair"}));
  StudyFile study;
  TW_TRY(study.title, in.text("title", kNameMax));
  TW_TRY(study.about, in.text("about", kTextMax));
  if (study.title.empty()) {
    return fail(ErrorCode::invalid, name + ": has no title", "write title = \"...\" on top");
  }
  TW_TRY_VOID(add_pairs(in, root, name, study));
  return study;
}

Result<StudyFile> read_study_file(const std::filesystem::path& path) {
  TW_TRY(const auto text, platform::read_file(path, kFileBytesMax));
  return parse_study_file(text, path.string());
}

}  // namespace torchwatch::studies
