#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/process/process.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/words.hpp"

namespace torchwatch::sandbox {

enum class Kind { none, bubblewrap };

/// What a child sees and may do beyond what every child has: /usr, the loader's files, /proc and
/// the parts of /sys that describe processor and memory (to read), and an empty /tmp and /dev/shm.
struct Profile {
  /// Files and folders, absolute. One that does not exist is left out.
  std::vector<std::filesystem::path> readable;
  /// Folders of symbolic links that somebody else made (a build's lib/): they are followed, but
  /// into `Settings::link_targets` only, as a link may lead to a secret.
  std::vector<std::filesystem::path> linked;
  std::vector<std::filesystem::path> writable;
  bool has_network = false;
  bool has_gpu = false;
  std::int64_t tmp_limit_bytes = std::int64_t{256} << 20;  ///< of /tmp, and of /dev/shm
};

struct Settings {
  std::vector<std::filesystem::path> readable;  ///< by every child
  /// The folders into which links of builds are followed, besides `readable`, and all below them.
  std::vector<std::filesystem::path> link_targets;
  /// Files that no child sees, wherever they lie: tokens, the configuration.
  std::vector<std::filesystem::path> hidden;
  /// Files of which none is seen either that lies beside them and whose name begins with theirs: a
  /// database with its log, its lock and its copies.
  std::vector<std::filesystem::path> hidden_with_copies;
  std::string search_path;  ///< where bwrap is looked for, written as in PATH
};

/// How bwrap isolates on this machine; the trial start finds it out.
struct Variant {
  bool has_user_namespace = true;  ///< no: only root can do without
  /// A /proc of its own, which shows the child's processes alone. Where the kernel refuses one, as
  /// under the masked /proc of systemd's Protect... and of containers, the service's is shown.
  bool has_own_proc = true;
};

/// Confines children that run foreign code. A value that never changes; thread-safe.
class Sandbox {
 public:
  /// No sandbox: `confine` leaves everything as it is.
  Sandbox() = default;

  /// Finds the strictest variant of bubblewrap with which a child can be started on this machine,
  /// in about 20 ms. Errors: unavailable (with the reason and what to do).
  static Result<Sandbox> open(Settings, process::ProcessRunner&);

  Kind kind() const { return program_.empty() ? Kind::none : Kind::bubblewrap; }
  const Variant& variant() const { return variant_; }

  /// Returns whether a child with this profile sees the file or folder that a path leads to. True
  /// without a sandbox.
  bool shows(const Profile&, const std::filesystem::path&) const;

  /// Makes the child start in the sandbox, where it sees its program, what the profile names, and
  /// no other file, process or device. Its paths stay what they are outside. Errors: unavailable
  /// (a writable path does not exist).
  Status confine(process::ProcessSpec&, const Profile&) const;

 private:
  Settings settings_;
  std::string program_;  ///< bwrap; empty: no sandbox
  Variant variant_;
};

}  // namespace torchwatch::sandbox

namespace torchwatch {

template <>
struct Words<sandbox::Kind> {
  using enum sandbox::Kind;
  static constexpr std::string_view kKind = "kind of a sandbox";
  static constexpr std::array kAll{Word{none, "none"}, Word{bubblewrap, "bubblewrap"}};
};

}  // namespace torchwatch
