#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::test {

/// The whole pipeline on a scripted day: real database, children, git and recipes; the runner is
/// the scripted one, so no LibTorch is needed and a comparison takes a second or two.
class ScriptedService {
 public:
  /// `vfs`: a SQLite VFS that injects faults; empty for the default.
  static Result<std::unique_ptr<ScriptedService>> open(const config::Config&,
                                                       const std::string& vfs = {});
  ~ScriptedService();

  comparison::Services& services();

  /// Discovers and carries out every comparison that is due, as `torchwatch nightly` does.
  Result<std::vector<storage::ComparisonRow>> carry_out_due_comparisons();

 private:
  struct Parts;
  explicit ScriptedService(std::unique_ptr<Parts>);
  std::unique_ptr<Parts> parts_;
};

/// Makes a source whose runner is the scripted one, whatever the build.
std::unique_ptr<comparison::RunnerSource> make_scripted_runners();

/// Returns everything that a comparison leaves behind, without ids of attempts, dates and tokens.
/// It is equal for a comparison that was killed and resumed, and one that was not.
Result<std::string> final_state(storage::Database&);

}  // namespace torchwatch::test
