#include "workload_list.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::kits {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::size_t kFileBytesMax = 1U << 20U;

/// Names and files become part of CMake variables, of C++ identifiers and of paths.
bool is_plain(const std::string& text, std::string_view more) {
  return text.find("..") == std::string::npos && std::ranges::all_of(text, [&](unsigned char c) {
           return std::isalnum(c) != 0 || more.find(static_cast<char>(c)) != std::string::npos;
         });
}

}  // namespace

Result<Names> read_workload_names(const fs::path& sources) {
  const fs::path file = sources / "models" / "workloads.txt";
  auto text = platform::read_file(file, kFileBytesMax);
  if (!text) return fail(text.error().within("no sources of the runner in " + sources.string()));
  Names names;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name.starts_with('#')) continue;
    std::string source;
    std::string more;
    const bool has_two_words = words >> source && !(words >> more);
    if (!has_two_words || !is_plain(name, "_") || !is_plain(source, "_-./")) {
      return fail(ErrorCode::invalid, file.string() + ": invalid line \"" + line +
                                          "\": must be `name file`, the name of letters, digits "
                                          "and _");
    }
    names.push_back(std::move(name));
  }
  return names;
}

Result<Names> choose_workloads(const Names& list, const Names& names) {
  if (names.empty()) {
    return fail(ErrorCode::invalid, "a runner kit needs at least one workload, none is named");
  }
  for (const auto& name : names) {
    if (std::ranges::find(list, name) != list.end()) continue;
    return fail(ErrorCode::invalid, "there is no workload \"" + name + "\"",
                did_you_mean(name, list) + "`torchwatch workload list` has their names");
  }
  Names chosen;
  std::ranges::copy_if(list, std::back_inserter(chosen), [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  });
  return chosen;
}

}  // namespace torchwatch::kits
