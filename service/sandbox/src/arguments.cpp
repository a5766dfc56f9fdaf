#include "arguments.hpp"

#include <algorithm>

#include "torchwatch/platform/folder.hpp"

namespace torchwatch::sandbox {
namespace {

using Words = std::vector<std::string>;

void add(Words& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

void add_namespaces(Words& words, const Demand& demand, const Variant& variant) {
  if (variant.has_user_namespace) add(words, {"--unshare-user"});
  // A user namespace inside would give the child all capabilities over what it then makes. Writing
  // the limit that forbids it needs the /proc/sys that a masked /proc lacks.
  if (variant.has_user_namespace && variant.has_own_proc) add(words, {"--disable-userns"});
  add(words, {"--unshare-pid", "--unshare-ipc"});
  if (!demand.has_network) add(words, {"--unshare-net"});
  add(words, {"--cap-drop", "ALL", "--die-with-parent"});
}

/// First of all mounts: a folder that the child sees may lie below /tmp.
void add_own_file_systems(Words& words, const Demand& demand, const Variant& variant) {
  const std::string limit = std::to_string(demand.tmp_limit_bytes);
  if (variant.has_own_proc) {
    add(words, {"--proc", "/proc"});
  } else {
    add(words, {"--ro-bind", "/proc", "/proc"});
  }
  add(words, {"--dev", "/dev", "--size", limit, "--tmpfs", "/dev/shm"});
  for (const auto& device : demand.devices) {
    add(words, {"--dev-bind-try", device.string(), device.string()});
  }
  add(words, {"--remount-ro", "/dev", "--perms", "1777", "--size", limit, "--tmpfs", "/tmp"});
}

}  // namespace

Words arguments_for(const Demand& demand, const Variant& variant) {
  Words words;
  add_namespaces(words, demand, variant);
  add_own_file_systems(words, demand, variant);
  const auto mounts = distinct_mounts(demand.view);
  const auto is_mounted = [&](const std::filesystem::path& path) {
    return std::ranges::any_of(
        mounts, [&](const auto& mount) { return platform::lies_in(path, mount.first); });
  };
  for (const auto& [path, access] : mounts) {
    add(words, {access == Access::write ? "--bind" : "--ro-bind", path.string(), path.string()});
  }
  for (const auto& [link, text] : demand.view.links) {
    if (!is_mounted(link)) add(words, {"--symlink", text.string(), link.string()});
  }
  for (const auto& file : demand.hidden) {
    if (is_mounted(file)) add(words, {"--ro-bind", "/dev/null", file.string()});
  }
  add(words, {"--remount-ro", "/"});
  if (!demand.working_folder.empty()) add(words, {"--chdir", demand.working_folder.string()});
  return words;
}

}  // namespace torchwatch::sandbox
