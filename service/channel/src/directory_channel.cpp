#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "torchwatch/channel/channel.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

/// build-hash is written last: a tree with it is complete.
bool is_complete(const fs::path& build) {
  std::error_code ignored;
  return fs::is_regular_file(build / "build-hash", ignored);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits from `at` on without leading zeros; `at` moves behind them.
std::string take_number(const std::string& text, std::size_t& at) {
  std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  while (begin + 1 < at && text[begin] == '0') ++begin;
  return text.substr(begin, at - begin);
}

/// 2.9.0 before 2.13.0: numbers in names count as numbers.
bool is_before(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string x = take_number(a, i);
      const std::string y = take_number(b, j);
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  const bool is_prefix = i == a.size() && j < b.size();
  return is_prefix || (i == a.size() && j == b.size() && a < b);
}

bool is_utf8(const std::string& text) {
  using nlohmann::json;
  const json value(text);
  return value.dump(-1, ' ', false, json::error_handler_t::ignore) ==
         value.dump(-1, ' ', false, json::error_handler_t::replace);
}

constexpr const char* kEscape = "\\x";

/// Writes bytes that no terminal and no JSON can take as \xFF, so that such a build can be listed,
/// and refused by name.
std::string printable(const std::string& name) {
  const bool is_text = is_utf8(name);
  std::string shown;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7f && (is_text || byte < 0x80)) {
      shown += c;
      continue;
    }
    constexpr const char* kDigits = "0123456789ABCDEF";
    shown += kEscape;
    shown += kDigits[byte >> 4U];
    shown += kDigits[byte & 0xFU];
  }
  return shown;
}

bool is_escaped(const std::string& name) {
  return name.find(kEscape) != std::string::npos;
}

class DirectoryChannel final : public Channel {
 public:
  explicit DirectoryChannel(fs::path folder) : folder_(std::move(folder)) {}

  std::string manner() const override { return {}; }
  std::optional<std::size_t> at_first() const override { return std::nullopt; }

  Result<std::vector<Offer>> list(std::stop_token) override {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder_, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (is_build_name(name) && is_complete(entry->path())) names.push_back(printable(name));
    }
    if (error) {
      return fail(ErrorCode::not_found,
                  "[channel] path " + folder_.string() + ": " + error.message(),
                  "it must be a folder with one build in each folder");
    }
    std::ranges::sort(names, is_before);
    std::vector<Offer> offers;
    for (auto& name : names) offers.push_back({.name = std::move(name)});
    return offers;
  }

  Result<builds::Tree> fetch(const Offer& offer, std::stop_token) override {
    const auto& name = offer.name;
    if (is_escaped(name)) {
      return fail(ErrorCode::invalid, "the name of folder " + name + " in " + folder_.string() +
                                          " is not UTF-8 or has control characters: rename it");
    }
    const auto build = folder_ / name;
    const bool is_plain = fs::path(name).filename() == name && is_build_name(name);
    // It is not the fault of this build: the disk may not be mounted.
    std::error_code error;
    if (!fs::is_directory(folder_, error)) {
      return fail(ErrorCode::unavailable,
                  "[channel] path " + folder_.string() + ": there is no such folder now");
    }
    if (!is_plain || !is_complete(build)) {
      return fail(ErrorCode::not_found,
                  "no complete build \"" + name + "\" in " + folder_.string());
    }
    auto tree = builds::inspect(build);
    if (!tree) return fail(tree.error().within("build " + name));
    if (is_commit(tree->embedded_commit)) return tree;
    return fail(ErrorCode::invalid,
                "build " + name + ": invalid build-hash \"" + printable(tree->embedded_commit) +
                    "\": must be 40 hexadecimal digits, as `git rev-parse` " + "prints them");
  }

 private:
  /// Builds that are still being copied may have names of the other kinds.
  static bool is_build_name(const std::string& name) {
    return !name.empty() && name[0] != '.' && !name.ends_with(".partial");
  }

  fs::path folder_;
};

}  // namespace

std::vector<std::string> names_of(const std::vector<Offer>& offers) {
  std::vector<std::string> names;
  for (const auto& offer : offers) names.push_back(offer.name);
  return names;
}

std::unique_ptr<Channel> make_directory_channel(std::filesystem::path folder) {
  return std::make_unique<DirectoryChannel>(std::move(folder));
}

}  // namespace torchwatch::channel
