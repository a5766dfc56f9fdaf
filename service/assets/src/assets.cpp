#include "torchwatch/assets/assets.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "embedded.hpp"
#include "torchwatch/digest/sha256.hpp"

namespace torchwatch::assets {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOfDisk = "disk";
constexpr std::string_view kKeptForEver = "public, max-age=31536000, immutable";

/// The media type by a name's ending; empty where it is not ours.
std::string_view type_of(std::string_view name) {
  static constexpr std::array kTypes{std::pair{".js", "text/javascript; charset=utf-8"},
                                     std::pair{".css", "text/css; charset=utf-8"}};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "";
}

/// What the names of all files and their bytes come to, shortened.
const std::string& version() {
  constexpr std::size_t kDigits = 16;
  static const std::string made = [] {
    std::string all;
    for (const auto& file : embedded()) all.append(file.name).append(file.tag);
    return digest::sha256_hex(all).substr(0, kDigits);
  }();
  return made;
}

Result<http::Reply> kept_file(const http::Request& request, std::string_view name,
                              std::string_view caching) {
  const auto file = std::ranges::find(embedded(), name, &Embedded::name);
  if (file == embedded().end()) return fail(ErrorCode::not_found, "there is no such file");
  http::Reply reply{200, std::string(type_of(name)), {}, {}};
  reply.headers = {{"Cache-Control", std::string(caching)}, {"Vary", "Accept-Encoding"}};
  const auto tag = "\"" + std::string(file->tag) + "\"";
  reply.headers["ETag"] = request.accepts_gzip ? "W/" + tag : tag;
  reply.body = request.accepts_gzip ? file->gzip : file->plain;
  if (request.accepts_gzip) reply.headers["Content-Encoding"] = "gzip";
  return reply;
}

/// A file of the folder that is worked on; nothing where it has none of that name.
std::optional<http::Reply> file_on_disk(const fs::path& disk, const std::string& name) {
  std::error_code error;
  if (!fs::is_regular_file(disk / name, error)) return std::nullopt;
  std::ifstream in(disk / name, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) return std::nullopt;
  return http::Reply{
      200, std::string(type_of(name)), std::move(bytes), {{"Cache-Control", "no-cache"}}};
}

/// A name of one of ours leads nowhere else: "main.js", not ".." or "a/b".
bool is_plain(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  return !type_of(name).empty() && !name.starts_with('.') &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace

std::string folder(const fs::path& disk) {
  return "assets/" + (disk.empty() ? version() : std::string(kOfDisk)) + "/";
}

std::vector<http::Route> routes(fs::path disk) {
  const auto answer = [disk =
                           std::move(disk)](const http::Request& request) -> Result<http::Reply> {
    const auto& name = request.path_parameters.at("name");
    const auto& asked = request.path_parameters.at("version");
    if (!request.query.empty() || !is_plain(name)) {
      return fail(ErrorCode::not_found, "there is no such file");
    }
    if (disk.empty() && asked == version()) return kept_file(request, name, kKeptForEver);
    // Files of different programs must not meet in one page.
    if (disk.empty() || asked != kOfDisk) return fail(ErrorCode::not_found, "another version runs");
    if (auto read = file_on_disk(disk, name)) return std::move(*read);
    return kept_file(request, name, "no-cache");
  };
  return {{.method = "GET", .path = "/assets/{version}/{name}", .handler = answer, .scope = {}}};
}

}  // namespace torchwatch::assets
