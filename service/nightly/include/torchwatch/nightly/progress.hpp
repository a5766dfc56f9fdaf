#pragma once

#include <string>

namespace torchwatch::nightly {

/// What the pipeline tells whoever watches it. Thread-safe; must not block.
class Progress {
 public:
  virtual ~Progress() = default;
  /// A stage or a long step has begun: "measuring resnet18, dlrm: 2026-08-17 against 2026-08-16".
  virtual void began(const std::string& what) = 0;
  /// How far the step is; `of` may grow, 0 = unknown.
  virtual void at(int done, int of, const std::string& detail) = 0;
  /// Something worth a line in the log: "commit 1234abcd does not build: recipe exited 125".
  virtual void note(const std::string& line) = 0;
};

/// Tells nobody.
class Silence final : public Progress {
 public:
  void began(const std::string&) override {}
  void at(int, int, const std::string&) override {}
  void note(const std::string&) override {}
};

}  // namespace torchwatch::nightly
