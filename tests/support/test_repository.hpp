#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torchwatch::test {

/// A commit to make. Nothing in it comes from the clock, so the same calls give the same shas.
struct TestCommit {
  std::string subject;
  std::map<std::string, std::optional<std::string>> files;  ///< path: content, or none to delete
  std::vector<std::string> parents;  ///< shas; empty: the branch's tip (none for its first commit)
  std::int64_t committer_time = 1'600'000'000;
  std::optional<std::int64_t> author_time;  ///< default: the committer's
  std::string author = "A Developer";
  std::string branch = "main";
};

/// A git repository for tests, made in an empty folder. Throws on any error.
class TestRepository {
 public:
  /// A bare one, or with an (empty) worktree around it. HEAD is at branch "main".
  explicit TestRepository(const std::filesystem::path& folder, bool bare = true);
  ~TestRepository();

  /// Adds the commit, moves its branch there, returns its sha.
  std::string commit(const TestCommit&);
  /// The commit of a subject that changes one file ("src/<subject>.cpp" unless named).
  std::string commit(const std::string& subject, const std::string& path = {});

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Handles;
  std::filesystem::path path_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace torchwatch::test
