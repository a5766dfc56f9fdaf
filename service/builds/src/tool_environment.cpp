#include "torchwatch/builds/tool_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;

constexpr std::array kNames{
    "PATH"sv,           "HOME"sv,           "USER"sv,           "LOGNAME"sv,
    "TMPDIR"sv,         "LANG"sv,           "http_proxy"sv,     "https_proxy"sv,
    "no_proxy"sv,       "HTTP_PROXY"sv,     "HTTPS_PROXY"sv,    "NO_PROXY"sv,
    "SSL_CERT_FILE"sv,  "SSL_CERT_DIR"sv,   "CURL_CA_BUNDLE"sv, "REQUESTS_CA_BUNDLE"sv,
    "GIT_SSL_CAINFO"sv, "LD_LIBRARY_PATH"sv};
constexpr std::array kCompiling{"CC"sv,      "CXX"sv,       "CFLAGS"sv,   "CXXFLAGS"sv,
                                "LDFLAGS"sv, "CUDA_HOME"sv, "CUDA_PATH"sv};
constexpr auto kSettings = "TORCHWATCH_"sv;
constexpr std::array kPrefixes{"LC_"sv, "CCACHE_"sv, kSettings};
constexpr std::array kSecret{"TOKEN"sv, "SECRET"sv, "PASSW"sv, "CREDENTIAL"sv, "KEY"sv};
constexpr std::array kProxies{"http_proxy", "https_proxy", "no_proxy",
                              "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"};
constexpr std::array kCertificates{"SSL_CERT_FILE",      "SSL_CERT_DIR",   "CURL_CA_BUNDLE",
                                   "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT",
                                   "PIP_CLIENT_CERT"};
/// Compilers write large files there.
constexpr std::int64_t kToolTmpBytes = std::int64_t{4} << 30;
/// These speak to this process alone.
constexpr auto kOwn = "TORCHWATCH_FAILPOINT"sv;

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_passed_on(std::string_view name) {
  if (name.starts_with(kOwn) || process::is_tag_variable(name)) return false;
  const auto is_part = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (std::ranges::any_of(kSecret, is_part)) return false;
  const auto is_prefix = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return has(kNames, name) || has(kCompiling, name) || std::ranges::any_of(kPrefixes, is_prefix);
}

std::string value_of(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

/// Where ccache keeps its files if CCACHE_DIR does not say (ccache(1), cache_dir).
fs::path usual_compiler_cache(const std::map<std::string, std::string>& environment) {
  const fs::path home = value_of(environment, "HOME");
  if (home.empty()) return {};
  std::error_code ignored;
  if (const fs::path former = home / ".ccache"; fs::is_directory(former, ignored)) return former;
  return home / ".cache" / "ccache";
}

/// Returns the compiler cache, made if missing; empty where there is none to be had.
fs::path compiler_cache(const std::map<std::string, std::string>& environment) {
  fs::path folder = value_of(environment, "CCACHE_DIR");
  if (folder.empty()) {
    if (process::find_program("ccache", value_of(environment, "PATH")).empty()) return {};
    folder = usual_compiler_cache(environment);
  }
  if (!folder.is_absolute()) return {};
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? fs::path() : folder;
}

}  // namespace

Status confine_tool(const sandbox::Sandbox& sandbox, process::ProcessSpec& spec,
                    sandbox::Profile profile) {
  if (sandbox.kind() == sandbox::Kind::none) return {};
  auto& environment = spec.environment;
  profile.tmp_limit_bytes = kToolTmpBytes;
  for (const char* file : {"/etc/passwd", "/etc/group"}) profile.readable.emplace_back(file);
  for (const char* name : kCertificates) {
    if (environment.contains(name)) profile.readable.emplace_back(environment[name]);
  }
  environment["HOME"] = environment["TMPDIR"] = "/tmp";
  if (!profile.has_network) {
    for (const char* name : kProxies) environment.erase(name);
  }
  return sandbox.confine(spec, profile);
}

Status confine_compiler(const sandbox::Sandbox& sandbox, process::ProcessSpec& spec,
                        sandbox::Profile profile, CompilerCache may) {
  if (sandbox.kind() == sandbox::Kind::none) return {};
  if (const auto cache = compiler_cache(spec.environment); !cache.empty()) {
    spec.environment["CCACHE_DIR"] = cache.string();
    if (may == CompilerCache::shared) {
      profile.writable.push_back(cache);
    } else {
      profile.readable.push_back(cache);
      spec.environment.insert({{"CCACHE_READONLY", "1"}, {"CCACHE_TEMPDIR", "/tmp"}});
    }
  }
  return confine_tool(sandbox, spec, std::move(profile));
}

std::map<std::string, std::string> tool_environment(const std::vector<std::string>& more) {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string::npos) continue;
    const auto name = text.substr(0, equals);
    if (!is_passed_on(name) && !has(more, name)) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::map<std::string, std::string> build_settings(const std::vector<std::string>& more) {
  auto settings = tool_environment(more);
  std::erase_if(settings, [&](const auto& variable) {
    const auto& name = variable.first;
    return !name.starts_with(kSettings) && !has(kCompiling, name) && !has(more, name);
  });
  return settings;
}

}  // namespace torchwatch::builds
