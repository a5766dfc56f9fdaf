// What a configuration names and the next command would refuse: folders, files, an address.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "torchwatch/checks/checks.hpp"
#include "torchwatch/documents/batch_table.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::checks {
namespace {

namespace fs = std::filesystem;

/// Whether a socket can have the address: it is one of this machine's interfaces. True where that
/// cannot be tried.
template <typename Socket>
bool is_of_this_machine(const Socket& address, int family) {
  const UniqueFd opened(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!opened.is_open()) return true;
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  return bind(opened.get(), any, sizeof(address)) == 0 || errno != EADDRNOTAVAIL;
}

/// Whether the text is an address at all, and one of this machine; its port is left open.
struct Place {
  bool is_address = false;
  bool is_here = false;
};

Place place_of(const std::string& address) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  if (inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    return {true, is_of_this_machine(four, AF_INET)};
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  if (inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1) {
    return {true, is_of_this_machine(six, AF_INET6)};
  }
  return {address == "localhost", address == "localhost"};
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

}  // namespace

CheckResult check_builds(const fs::path& channel) {
  std::size_t builds = 0;
  std::vector<std::string> incomplete;
  std::error_code ignored;
  for (const auto& entry : platform::list_folder(channel).entries) {
    if (!entry.is_directory(ignored)) continue;
    if (fs::is_regular_file(entry.path() / "build-hash", ignored)) {
      ++builds;
    } else {
      incomplete.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(incomplete);
  auto found = channel.string() + ": " + figures::count(builds, "build");
  if (!incomplete.empty()) found += "; without build-hash: " + joined(incomplete);
  CheckResult result{
      .severity = Severity::good, .what = "[channel] path", .found = found, .remedy = ""};
  if (builds > 0) return result;
  result.severity = Severity::warning;
  result.remedy = "put one LibTorch tree a nightly there";
  return result;
}

CheckResult check_batches(const config::Config& config) {
  constexpr std::size_t kBytesMax = 1U << 20U;
  const auto& file = config.suite.inference_batches;
  CheckResult result{.severity = Severity::good,
                     .what = "[suite] inference_batches",
                     .found = "not set: those of the preset",
                     .remedy = ""};
  if (file.empty()) return result;
  const auto read = [&]() -> Result<comparison::BatchTable> {
    TW_TRY(const auto text, platform::read_file(file, kBytesMax));
    return comparison::parse_batch_table(text, config.suite.preset);
  };
  const auto table = read();
  if (table) {
    result.found = figures::count(table->size(), "batch size");
    return result;
  }
  result.severity = Severity::error;
  result.found = table.error().message;
  result.remedy = "`torchwatch workload batches --out " + file.string() + "` writes it";
  return result;
}

CheckResult check_lock(const std::string& lock) {
  CheckResult result{
      .severity = Severity::good, .what = "[executor] machine_lock", .found = lock, .remedy = ""};
  if (!lock.starts_with('/')) return result;
  const auto folder = fs::path(lock).parent_path();
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return result;
  result.severity = Severity::error;
  result.found = "there is no folder " + folder.string();
  result.remedy = "make it, or set machine_lock to a path in one that is there";
  return result;
}

CheckResult check_address(const std::string& address) {
  CheckResult result{
      .severity = Severity::error, .what = "[web] address", .found = "", .remedy = ""};
  const auto place = place_of(address);
  if (!place.is_here) {
    result.found = place.is_address
                       ? address + " is not an address of this machine"
                       : "invalid address \"" + address + "\": must be that of a machine";
    result.remedy = "set it to 127.0.0.1, or to the address of one of this machine's interfaces";
    return result;
  }
  if (address == "localhost" || address == "::1" || address.starts_with("127.")) {
    result.severity = Severity::good;
    result.found = address + ": this machine alone";
    return result;
  }
  result.severity = Severity::warning;
  result.found = address + ": other machines reach it, unencrypted";
  result.remedy = "set it to 127.0.0.1 and put a proxy with TLS in front (docs/deployment.md)";
  return result;
}

}  // namespace torchwatch::checks
