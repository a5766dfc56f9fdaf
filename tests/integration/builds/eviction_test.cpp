#include <catch2/catch.hpp>

#include "fake_process_runner.hpp"
#include "recipe_folder.hpp"
#include "torchwatch/builds/commit_builder.hpp"
#include "unreadable_folder.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using test::commit_name;
using test::RecipeFolder;
using test::write_tree;

constexpr std::int64_t kPayloadBytes = 1'000'000;

/// A cache for `count` builds of a megabyte each; the "recipe" is a function, so that a test can
/// say what the tree of which commit is made of.
class Cache {
 public:
  explicit Cache(int count)
      : folder_("exit 1"),
        runner_(script()),
        builder_(settings_for(count), runner_, RecipeFolder::check_out) {}

  /// Uses the commits one after the other and lets go of them.
  void use(std::initializer_list<int> commits) {
    for (const int n : commits) hold(n);
  }
  Tree hold(int n, const std::optional<Tree>& base = {}) {
    const auto build = builder_.build(commit_name(n), base, {});
    REQUIRE(build.has_value());
    REQUIRE(std::holds_alternative<Tree>(*build));
    return age(std::get<Tree>(*build));
  }
  bool has(int n) {
    for (const auto& name : folder_.cache_names()) {
      if (name.starts_with(commit_name(n))) return true;
    }
    return false;
  }

 private:
  /// Times of files are as coarse as the kernel's tick: a test that is quicker sets them itself.
  Tree age(const Tree& tree) {
    const auto begin = fs::file_time_type::clock::now() - std::chrono::hours(1000);
    fs::last_write_time(tree.folder / "last-used", begin + std::chrono::hours(++uses_));
    return tree;
  }

  /// A tree with a payload; with a base, a tree of links into it beside the payload.
  static test::FakeProcessRunner::Script script() {
    return [](const process::ProcessSpec& spec, std::stop_token) {
      const fs::path prefix = spec.environment.at("TORCHWATCH_PREFIX");
      const fs::path base = spec.environment.at("TORCHWATCH_BASE");
      write_tree(prefix);
      if (!base.empty()) {
        fs::remove(prefix / "lib/libtorch_cpu.so");
        fs::create_symlink(base / "lib/libtorch_cpu.so", prefix / "lib/libtorch_cpu.so");
      }
      std::ofstream(prefix / "payload") << std::string(kPayloadBytes, 'x');
      return test::ended(process::Exited{0});
    };
  }

  CommitBuilder::Settings settings_for(int count) const {
    auto settings = folder_.settings();
    settings.size_limit_bytes = count * kPayloadBytes + kPayloadBytes / 2;
    return settings;
  }

  RecipeFolder folder_;
  test::FakeProcessRunner runner_;
  CommitBuilder builder_;
  int uses_ = 0;
};

TEST_CASE("the builds used longest ago go first") {
  Cache cache(3);
  cache.use({1, 2, 3, 1, 4});
  CHECK(cache.has(1));
  CHECK_FALSE(cache.has(2));
  CHECK(cache.has(3));
  CHECK(cache.has(4));
}

TEST_CASE("a build that cannot be read or removed keeps no other in the cache") {
  Cache cache(2);
  const auto damaged = cache.hold(1).folder;
  const test::UnreadableFolder unreadable(damaged);
  cache.use({2, 3, 4});
  CHECK_FALSE(cache.has(2));
  CHECK(cache.has(3));
  CHECK(cache.has(4));
}

TEST_CASE("a build that is in use stays, though it was used longest ago") {
  Cache cache(2);
  const Tree held = cache.hold(1);
  cache.use({2, 3, 4});
  CHECK(cache.has(1));
  CHECK_FALSE(cache.has(2));
  CHECK_FALSE(cache.has(3));
  CHECK(cache.has(4));
}

TEST_CASE("a build that another one links into stays, also by a link to a link") {
  Cache cache(3);
  cache.hold(2, cache.hold(1));
  const Tree top = cache.hold(3, cache.hold(2));
  cache.use({4, 5});
  CHECK(cache.has(1));
  CHECK(cache.has(2));
  CHECK(cache.has(3));
  CHECK_FALSE(cache.has(4));
  CHECK(cache.has(5));
}

TEST_CASE("what builds share counts once, and is freed only with the last one of them") {
  Cache cache(2);
  const auto first = cache.hold(1).folder;
  const auto second = cache.hold(2).folder;
  fs::remove(second / "payload");
  fs::create_hard_link(first / "payload", second / "payload");
  cache.use({3});
  CHECK(cache.has(1));
  cache.use({4});
  CHECK_FALSE(cache.has(1));
  CHECK_FALSE(cache.has(2));
  CHECK(cache.has(3));
  CHECK(cache.has(4));
}

TEST_CASE("a build is free again when the last one that linked into it has gone") {
  Cache cache(2);
  cache.hold(2, cache.hold(1));
  cache.use({3, 4, 5});
  CHECK_FALSE(cache.has(1));
  CHECK_FALSE(cache.has(2));
}

}  // namespace
}  // namespace torchwatch::builds
