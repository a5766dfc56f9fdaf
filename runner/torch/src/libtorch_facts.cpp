#include "torchwatch/models/torch.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

/// FNV-1a, 64 bits: short enough to read, long enough to notice a change.
std::string digest(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char each : text) {
    hash ^= static_cast<unsigned char>(each);
    hash *= 0x100000001b3U;
  }
  return hex_of(hash);
}

/// The version of the libraries in use. It differs from that of the headers if the kit was compiled
/// for another build with equal headers.
std::string version_in(const std::string& config) {
  constexpr std::string_view kLabel = "TORCH_VERSION=";
  const auto at = config.find(kLabel);
  if (at == std::string::npos) return TORCH_VERSION;
  const auto begin = at + kLabel.size();
  return config.substr(begin, config.find(',', begin) - begin);
}

}  // namespace

std::map<std::string, std::string> libtorch_facts() {
  const auto config = at::show_config();
  return {{"build.torch_version", version_in(config)},
          {"build.config_digest", digest(config)},
          {"cpu_capability", at::get_cpu_capability()},
          {"threads", std::to_string(at::get_num_threads())}};
}

}  // namespace torchwatch::runner
