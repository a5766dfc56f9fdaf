#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "torchwatch/config/config.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::test {

/// The whole pipeline on a scripted day: real database, children, git and recipes; the runner is
/// the scripted one, so no LibTorch is needed and a night takes a second or two.
class ScriptedService {
 public:
  /// `vfs`: a SQLite VFS that injects faults; empty for the default.
  static Result<std::unique_ptr<ScriptedService>> open(const config::Config&,
                                                       const std::string& vfs = {});
  ~ScriptedService();

  nightly::Workshop& workshop();

  /// Discovers and carries out every night that is due, as `torchwatch nightly` does.
  Result<std::vector<storage::NightRow>> carry_out_due_nights();

 private:
  struct Parts;
  explicit ScriptedService(std::unique_ptr<Parts>);
  std::unique_ptr<Parts> parts_;
};

/// Everything that a night leaves behind, without ids of attempts, dates and tokens: equal for a
/// night that was killed and went on, and one that was not.
Result<std::string> final_state(storage::Database&);

}  // namespace torchwatch::test
