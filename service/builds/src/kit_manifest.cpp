#include "kit_manifest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "torchwatch/doors/publish.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kFileBytesMax = 1U << 20U;
constexpr const char* kManifest = "runner/kit/manifest.json";
constexpr int kSchema = 1;
constexpr const char* kNameSign = "@NAME@";
constexpr const char* kPlainCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,=+-";

bool is_plain(const std::string& text) {
  return !text.empty() && text.find_first_not_of(kPlainCharacters) == std::string::npos &&
         text.find("..") == std::string::npos;
}

/// Members of the manifest; the first that is wrong is remembered.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  std::string text(const char* name) { return checked(name, object_.value(name, json())); }

  /// As a text, with the sign @NAME@ and parentheses in it: it goes into a source file only.
  std::string line(const char* name) {
    const json value = object_.value(name, json());
    std::string text = value.is_string() ? value.get<std::string>() : std::string();
    std::string rest = text;
    std::erase_if(rest, [](char c) { return c == '(' || c == ')' || c == '@'; });
    if (!is_plain(rest) || text.find(kNameSign) == std::string::npos) wrong_ = name;
    return text;
  }

  std::vector<std::string> list(const char* name) {
    std::vector<std::string> texts;
    const json items = object_.value(name, json());
    if (!items.is_array()) wrong_ = name;
    for (const auto& item : items) texts.push_back(checked(name, item));
    return texts;
  }

  /// Empty: none.
  const std::string& wrong() const { return wrong_; }

 private:
  std::string checked(const char* name, const json& value) {
    std::string text = value.is_string() ? value.get<std::string>() : std::string();
    if (!is_plain(text)) wrong_ = name;
    return text;
  }

  const json& object_;
  std::string wrong_;
};

Status check_known(const std::vector<WorkloadEntry>& list, const std::vector<std::string>& names) {
  if (names.empty()) {
    return fail(ErrorCode::invalid, "a runner kit needs at least one workload, none is named");
  }
  std::vector<std::string> known;
  for (const auto& entry : list) known.push_back(entry.name);
  for (const auto& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return fail(ErrorCode::invalid, "there is no workload \"" + name + "\"; " +
                                        did_you_mean(name, known) +
                                        "`torchwatch workloads` lists them");
  }
  return {};
}

}  // namespace

Result<KitManifest> read_kit_manifest(const fs::path& sources) {
  const fs::path file = sources / kManifest;
  auto text = doors::read_file(file, kFileBytesMax);
  if (!text) return fail(text.error().within("no sources of the runner in " + sources.string()));
  const json manifest = json::parse(*text, nullptr, false);
  if (!manifest.is_object() || manifest.value("schema", json()) != kSchema) {
    return fail(ErrorCode::invalid,
                file.string() + " is not a manifest of schema " + std::to_string(kSchema));
  }
  Members members(manifest);
  KitManifest kit{.plain_sources = members.list("plain_sources"),
                  .libtorch_sources = members.list("libtorch_sources"),
                  .workloads = members.text("workloads"),
                  .workload_folder = members.text("workload_folder"),
                  .include = members.list("include"),
                  .precompiled_header = members.text("precompiled_header"),
                  .table_file = members.text("table_file"),
                  .table_line = members.line("table_line"),
                  .compile = members.list("compile"),
                  .link = members.list("link"),
                  .executable = members.text("executable")};
  if (members.wrong().empty()) return kit;
  return fail(ErrorCode::invalid, file.string() + ": member " + members.wrong() +
                                      " is missing or holds what cannot stand in a command line");
}

Result<std::vector<WorkloadEntry>> read_workload_list(const fs::path& file) {
  TW_TRY(const std::string text, doors::read_file(file, kFileBytesMax));
  std::vector<WorkloadEntry> list;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    WorkloadEntry entry;
    std::string more;
    if (!(words >> entry.name) || entry.name.starts_with('#')) continue;
    if (!(words >> entry.file) || words >> more || !is_plain(entry.name) || !is_plain(entry.file)) {
      return fail(ErrorCode::invalid, file.string() + ": \"" + line + "\" is not `name file`");
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Result<std::vector<WorkloadEntry>> choose_workloads(const std::vector<WorkloadEntry>& list,
                                                    const std::vector<std::string>& names) {
  TW_TRY_VOID(check_known(list, names));
  std::vector<WorkloadEntry> chosen;
  std::ranges::copy_if(list, std::back_inserter(chosen), [&](const WorkloadEntry& entry) {
    return std::ranges::find(names, entry.name) != names.end();
  });
  return chosen;
}

}  // namespace torchwatch::builds
