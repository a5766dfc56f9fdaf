#include "release.hpp"

#include <array>
#include <charconv>
#include <regex>

#include "torchwatch/doors/publish.hpp"

namespace torchwatch::channel {
namespace {

constexpr std::size_t kVersionFileBytesMax = 64U << 10U;
constexpr std::size_t kVersionLettersMax = 64;
constexpr int kFirstWithoutSuffix = 13;  // nvidia-cuda-runtime-cu12, but nvidia-cuda-runtime (13)
constexpr int kLastWithMinorName = 11;   // libcupti.so.11.7, but libcupti.so.12

struct Supplier {
  std::string_view prefix;
  std::string_view package;
  bool has_minor_in_name;  ///< in CUDA 11: then the minor version has to fit as well
};
constexpr std::array kSuppliers{
    Supplier{"libcudart.so.", "nvidia-cuda-runtime", false},
    Supplier{"libcupti.so.", "nvidia-cuda-cupti", true},
};

/// `name = '...'` in Python, perhaps with a type; empty: it is not there.
std::string value_of(const std::string& text, const std::string& name) {
  const std::regex assignment("(?:^|\n)" + name + "\\s*(?::[^=\n]*)?=\\s*['\"]([^'\"\n]*)['\"]");
  std::smatch match;
  return std::regex_search(text, match, assignment) ? match[1].str() : std::string();
}

}  // namespace

bool is_version(const std::string& version) {
  static constexpr const char* kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+!_-";
  return !version.empty() && version.size() <= kVersionLettersMax && version[0] >= '0' &&
         version[0] <= '9' && version.find_first_not_of(kLetters) == std::string::npos &&
         version.find("..") == std::string::npos;
}

std::optional<std::string> package_of(const std::string& library) {
  for (const auto& supplier : kSuppliers) {
    if (!library.starts_with(supplier.prefix)) continue;
    const std::string version = library.substr(supplier.prefix.size());
    int major = 0;
    const auto parsed = std::from_chars(version.data(), version.data() + version.size(), major);
    if (parsed.ec != std::errc() || !is_version(version)) return {};
    std::string package(supplier.package);
    if (major < kFirstWithoutSuffix) package += "-cu" + std::to_string(major);
    const bool by_minor = supplier.has_minor_in_name && major <= kLastWithMinorName;
    return package + "==" + (by_minor ? version : std::to_string(major)) + ".*";
  }
  return {};
}

Result<ReleaseFacts> read_version_file(const std::filesystem::path& file) {
  TW_TRY(const std::string text, doors::read_file(file, kVersionFileBytesMax));
  ReleaseFacts facts{.version = value_of(text, "__version__"),
                     .commit = value_of(text, "git_version")};
  const bool is_sha = facts.commit.size() == 40 &&
                      facts.commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_version(facts.version) && is_sha) return facts;
  return fail(ErrorCode::corrupt,
              file.string() + " does not name a version and a commit (__version__, git_version)");
}

}  // namespace torchwatch::channel
