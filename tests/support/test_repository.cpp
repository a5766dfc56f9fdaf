#include "test_repository.hpp"

#include <git2.h>

#include <stdexcept>

namespace torchwatch::test {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* handle) const noexcept {
    Free(handle);
  }
};
using IndexHandle = std::unique_ptr<git_index, Deleter<git_index_free>>;
using CommitHandle = std::unique_ptr<git_commit, Deleter<git_commit_free>>;
using TreeHandle = std::unique_ptr<git_tree, Deleter<git_tree_free>>;
using SignatureHandle = std::unique_ptr<git_signature, Deleter<git_signature_free>>;

void check(int code) {
  if (code >= 0) return;
  const git_error* last = git_error_last();
  throw std::runtime_error(last != nullptr ? last->message : "libgit2 failed");
}

CommitHandle look_up(git_repository* repository, const std::string& sha) {
  git_oid id;
  check(git_oid_fromstr(&id, sha.c_str()));
  git_commit* commit = nullptr;
  check(git_commit_lookup(&commit, repository, &id));
  return CommitHandle(commit);
}

SignatureHandle sign(const std::string& name, std::int64_t time) {
  git_signature* signature = nullptr;
  check(git_signature_new(&signature, name.c_str(), "developer@example.org", time, 0));
  return SignatureHandle(signature);
}

/// The first parent's files with the commit's changes in them.
TreeHandle make_tree(git_repository* repository, const TestCommit& wanted,
                     const std::vector<CommitHandle>& parents) {
  git_index* raw_index = nullptr;
  check(git_index_new(&raw_index));
  const IndexHandle index(raw_index);
  git_tree* tree = nullptr;
  if (!parents.empty()) {
    check(git_commit_tree(&tree, parents.front().get()));
    const TreeHandle before(tree);
    check(git_index_read_tree(index.get(), before.get()));
  }
  for (const auto& [path, content] : wanted.files) {
    if (!content) {
      check(git_index_remove(index.get(), path.c_str(), 0));
      continue;
    }
    git_index_entry entry = {};
    entry.path = path.c_str();
    entry.mode = GIT_FILEMODE_BLOB;
    check(git_blob_create_from_buffer(&entry.id, repository, content->data(), content->size()));
    check(git_index_add(index.get(), &entry));
  }
  git_oid id;
  check(git_index_write_tree_to(&id, index.get(), repository));
  check(git_tree_lookup(&tree, repository, &id));
  return TreeHandle(tree);
}

/// Ends with the process: a thread that outlives libgit2's last user leaks what it holds of it.
struct GitLibrary {
  GitLibrary() { git_libgit2_init(); }
  ~GitLibrary() { git_libgit2_shutdown(); }
  GitLibrary(const GitLibrary&) = delete;
  GitLibrary& operator=(const GitLibrary&) = delete;
};

}  // namespace

struct TestRepository::Handles {
  Handles() { static GitLibrary library; }
  ~Handles() { git_repository_free(repository); }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  git_repository* repository = nullptr;
  std::map<std::string, std::string> tips;
};

TestRepository::TestRepository(const std::filesystem::path& folder, bool bare)
    : path_(folder), handles_(std::make_unique<Handles>()) {
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.flags = GIT_REPOSITORY_INIT_MKPATH;
  if (bare) options.flags |= GIT_REPOSITORY_INIT_BARE;
  options.initial_head = "main";
  check(git_repository_init_ext(&handles_->repository, folder.c_str(), &options));
}

TestRepository::~TestRepository() = default;

std::string TestRepository::commit(const TestCommit& wanted) {
  git_repository* repository = handles_->repository;
  std::string& tip = handles_->tips[wanted.branch];
  std::vector<CommitHandle> parents;
  for (const auto& sha : wanted.parents) parents.push_back(look_up(repository, sha));
  if (parents.empty() && !tip.empty()) parents.push_back(look_up(repository, tip));

  const TreeHandle tree = make_tree(repository, wanted, parents);
  const auto author = sign(wanted.author, wanted.author_time.value_or(wanted.committer_time));
  const auto committer = sign("A Committer", wanted.committer_time);
  std::vector<const git_commit*> raw_parents;
  for (const auto& parent : parents) raw_parents.push_back(parent.get());
  git_oid id;
  check(git_commit_create(&id, repository, nullptr, author.get(), committer.get(), "UTF-8",
                          wanted.subject.c_str(), tree.get(), raw_parents.size(),
                          raw_parents.data()));
  git_reference* reference = nullptr;
  const std::string name = "refs/heads/" + wanted.branch;
  check(git_reference_create(&reference, repository, name.c_str(), &id, 1, "test"));
  git_reference_free(reference);
  tip = git_oid_tostr_s(&id);
  return tip;
}

std::string TestRepository::commit(const std::string& subject, const std::string& path) {
  TestCommit wanted;
  wanted.subject = subject;
  wanted.files[path.empty() ? "src/" + subject + ".cpp" : path] = "// " + subject + "\n";
  return commit(wanted);
}

}  // namespace torchwatch::test
