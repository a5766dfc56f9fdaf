#include "torchwatch/requests/names.hpp"

#include <algorithm>
#include <filesystem>

#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::requests {
namespace {

using storage::BuildOrigin;
using storage::BuildRow;

/// Whether a person may mean that build: by its name, or by the first digits of a commit's.
bool is_meant(const BuildRow& row, const std::string& text) {
  constexpr std::size_t kDigitsMin = 7;
  if (row.name == text) return true;
  return row.origin == BuildOrigin::commit && text.size() >= kDigitsMin &&
         row.name.starts_with(text);
}

}  // namespace

std::string quoted(const std::string& text) {
  constexpr std::size_t kShown = 100;
  return "\"" + text.substr(0, kShown) + "\"";
}

Error unknown_build(const std::string& text, Asking asking,
                    const std::vector<std::string>& published) {
  const auto* const allowed =
      asking == Asking::from_this_machine
          ? "no folder, no build of the channel, no release such as 2.13.0 and no commit of "
            "[source]"
          : "must be a build of the channel or a release such as 2.13.0";
  return {ErrorCode::not_found, "unknown build " + quoted(text) + ": " + allowed,
          did_you_mean(text, published) + "`torchwatch build list` lists the known ones"};
}

Error missing_build(storage::Database& database, const std::string& text,
                    const std::vector<std::string>& published) {
  const auto rows = storage::BuildStore(database).list();
  if (!rows) return rows.error();
  const auto gone = std::ranges::find_if(*rows, [&](const BuildRow& row) {
    return is_meant(row, text) && row.state == storage::BuildState::ready;
  });
  if (gone == rows->end()) return unknown_build(text, Asking::from_this_machine, published);
  return {ErrorCode::not_found,
          "the files of build " + quoted(text) + " are gone: there is no " + gone->folder,
          "put them back, or name a build of which `torchwatch build list` has files"};
}

bool is_release(const std::string& text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return text.find_first_not_of("0123456789.") == std::string::npos && has(".") && !has("..") &&
         text.front() != '.' && text.back() != '.';
}

bool is_nightly_version(const std::string& text) {
  constexpr std::string_view kDev = ".dev";
  constexpr std::string_view kOfFlavours = "abcdefghijklmnopqrstuvwxyz0123456789.";
  const auto dev = text.find(kDev);
  if (dev == std::string::npos || !is_release(text.substr(0, dev))) return false;
  const auto end = std::min(text.find('+'), text.size());
  const auto number = std::string_view(text).substr(dev + kDev.size(), end - dev - kDev.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
         text.find_first_not_of(kOfFlavours, end + 1) == std::string::npos;
}

Result<std::optional<BuildRow>> known_build(storage::Database& database, const std::string& text) {
  TW_TRY(const auto rows, storage::BuildStore(database).list());
  std::optional<BuildRow> newest;
  for (const auto& row : rows) {
    if (!is_meant(row, text) || row.state != storage::BuildState::ready) continue;
    if (!std::filesystem::exists(row.folder)) continue;
    const bool is_other_commit =
        newest && row.name != newest->name && row.name != text && newest->name != text;
    if (is_other_commit) {
      return fail(ErrorCode::invalid,
                  "build \"" + text + "\" is ambiguous: " + newest->name + " or " + row.name);
    }
    if (!newest || newest->name != text || row.name == text) newest = row;
  }
  return newest;
}

}  // namespace torchwatch::requests
