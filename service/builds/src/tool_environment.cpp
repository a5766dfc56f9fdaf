#include "torchwatch/builds/tool_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace torchwatch::builds {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kNames{"PATH"sv,
                            "HOME"sv,
                            "USER"sv,
                            "LOGNAME"sv,
                            "TMPDIR"sv,
                            "LANG"sv,
                            "CC"sv,
                            "CXX"sv,
                            "CFLAGS"sv,
                            "CXXFLAGS"sv,
                            "LDFLAGS"sv,
                            "CUDA_HOME"sv,
                            "CUDA_PATH"sv,
                            "http_proxy"sv,
                            "https_proxy"sv,
                            "no_proxy"sv,
                            "HTTP_PROXY"sv,
                            "HTTPS_PROXY"sv,
                            "NO_PROXY"sv,
                            "SSL_CERT_FILE"sv,
                            "SSL_CERT_DIR"sv,
                            "CURL_CA_BUNDLE"sv,
                            "REQUESTS_CA_BUNDLE"sv,
                            "GIT_SSL_CAINFO"sv,
                            "LD_LIBRARY_PATH"sv};
constexpr std::array kPrefixes{"LC_"sv, "CCACHE_"sv, "TORCHWATCH_"sv};
constexpr std::array kSecret{"TOKEN"sv, "SECRET"sv, "PASSWORD"sv, "CREDENTIAL"sv};
/// These speak to this process alone.
constexpr auto kOwn = "TORCHWATCH_FAILPOINT"sv;

bool is_passed_on(std::string_view name) {
  if (name.starts_with(kOwn)) return false;
  const auto is_part = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (std::ranges::any_of(kSecret, is_part)) return false;
  const auto is_prefix = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes, is_prefix);
}

}  // namespace

std::map<std::string, std::string> tool_environment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string::npos || !is_passed_on(text.substr(0, equals))) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

}  // namespace torchwatch::builds
