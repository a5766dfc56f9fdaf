#include "torchwatch/builds/library_search.hpp"

#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <set>
#include <sstream>

#include "torchwatch/builds/elf_file.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

constexpr int kIncludeDepthMax = 8;
constexpr std::size_t kLibrariesMax = 10'000;

Folders split_paths(const std::string& text) {
  Folders folders;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ':');) {
    if (!part.empty()) folders.emplace_back(part);
  }
  return folders;
}

/// $ORIGIN is the folder that the library was found in, links not followed, as glibc has it.
Folders search_path(std::string text, const fs::path& origin) {
  for (const std::string variable : {"$ORIGIN", "${ORIGIN}"}) {
    for (auto at = text.find(variable); at != std::string::npos; at = text.find(variable, at)) {
      text.replace(at, variable.size(), origin.string());
      at += origin.string().size();
    }
  }
  return split_paths(text);
}

void read_loader_configuration(const fs::path& file, int depth, Folders& folders);

void read_included(const std::string& pattern, int depth, Folders& folders) {
  glob_t matches{};
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
      read_loader_configuration(matches.gl_pathv[i], depth + 1, folders);
    }
  }
  globfree(&matches);
}

void read_loader_configuration(const fs::path& file, int depth, Folders& folders) {
  if (depth > kIncludeDepthMax) return;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string first;
    words >> first;
    if (first == "include") {
      for (std::string pattern; words >> pattern;) read_included(pattern, depth, folders);
    } else if (first.starts_with('/')) {
      folders.emplace_back(first);
    }
  }
}

/// A library whose needs are still to be looked at.
struct Pending {
  fs::path path;
  Folders inherited;  ///< DT_RPATH of those that need it
};

const fs::path* find_in(const Folders& folders, const std::string& name) {
  const auto found = std::ranges::find_if(folders, [&](const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / name, ignored);
  });
  return found == folders.end() ? nullptr : &*found;
}

/// Folders in the loader's order. A DT_RUNPATH switches every DT_RPATH off for its library.
Folders folders_for(const ElfDynamic& dynamic, const Pending& library, const Folders& environment) {
  const fs::path origin = library.path.parent_path();
  Folders folders;
  if (dynamic.runpath.empty()) {
    folders = search_path(dynamic.rpath, origin);
    folders.insert(folders.end(), library.inherited.begin(), library.inherited.end());
  }
  folders.insert(folders.end(), environment.begin(), environment.end());
  const Folders own = search_path(dynamic.runpath, origin);
  folders.insert(folders.end(), own.begin(), own.end());
  return folders;
}

}  // namespace

LibrarySearch LibrarySearch::of_this_machine() {
  const char* const environment = std::getenv("LD_LIBRARY_PATH");
  Folders system;
  read_loader_configuration("/etc/ld.so.conf", 0, system);
  for (const char* folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64"})
    system.emplace_back(folder);
  return {split_paths(environment == nullptr ? "" : environment), system};
}

LibrarySearch LibrarySearch::with(fs::path folder) const {
  Folders folders{std::move(folder)};
  folders.insert(folders.end(), environment_folders_.begin(), environment_folders_.end());
  return {std::move(folders), system_folders_};
}

Result<LibraryNeeds> LibrarySearch::needs_of(const fs::path& library) const {
  LibraryNeeds needs;
  std::set<std::string> seen;
  std::deque<Pending> pending{{.path = library, .inherited = {}}};
  while (!pending.empty() && seen.size() < kLibrariesMax) {
    const Pending next = std::move(pending.front());
    pending.pop_front();
    TW_TRY(const ElfDynamic dynamic, read_elf_dynamic(next.path));
    const Folders folders = folders_for(dynamic, next, environment_folders_);
    Folders inherited = search_path(dynamic.rpath, next.path.parent_path());
    inherited.insert(inherited.end(), next.inherited.begin(), next.inherited.end());
    for (const auto& name : dynamic.needed) {
      if (!seen.insert(name).second) continue;
      if (const fs::path* const folder = find_in(folders, name)) {
        pending.push_back({.path = *folder / name, .inherited = inherited});
        if (std::ranges::find(needs.folders, *folder) == needs.folders.end()) {
          needs.folders.push_back(*folder);
        }
      } else if (find_in(system_folders_, name) == nullptr) {
        needs.missing.push_back({.name = name, .needed_by = next.path});
      }
    }
  }
  return needs;
}

}  // namespace torchwatch::builds
