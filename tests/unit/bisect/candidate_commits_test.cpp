#include "torchwatch/bisect/candidate_commits.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::bisect;

namespace {

Commit changing(std::vector<std::string> paths) {
  Commit commit;
  commit.changed_paths = std::move(paths);
  return commit;
}

bool matches(const std::string& pattern, const std::string& path) {
  return PathPatterns::create({pattern}).value().match(path);
}

PathPatterns defaults() {
  return PathPatterns::create(default_cannot_change()).value();
}

}  // namespace

TEST_CASE("a pattern without a slash is compared with the file's name in any folder") {
  REQUIRE(matches("*.md", "README.md"));
  REQUIRE(matches("*.md", "a/b/c.md"));
  REQUIRE_FALSE(matches("*.md", "a.md/b.cpp"));
  REQUIRE(matches("CODEOWNERS", "x/CODEOWNERS"));
  REQUIRE_FALSE(matches("CODEOWNERS", "x/CODEOWNERS2"));
}

TEST_CASE("a star stays within a folder and two stars do not") {
  REQUIRE(matches("docs/*", "docs/a.rst"));
  REQUIRE_FALSE(matches("docs/*", "docs/a/b.rst"));
  REQUIRE(matches("docs/**", "docs/a/b.rst"));
  REQUIRE_FALSE(matches("docs/**", "aten/docs/b.rst"));
  REQUIRE(matches("**/docs/**", "aten/docs/b.rst"));
  REQUIRE(matches("**/docs/**", "docs/b.rst"));
  REQUIRE_FALSE(matches("**/docs/**", "mydocs/b.rst"));
  REQUIRE(matches("a/**/z.cpp", "a/z.cpp"));
  REQUIRE(matches("a/**/z.cpp", "a/b/c/z.cpp"));
  REQUIRE(matches("a?c/x", "abc/x"));
  REQUIRE_FALSE(matches("a?c", "a/c"));
}

TEST_CASE("a pattern that would not mean what it says is refused by name") {
  for (const auto* pattern : {"", "/docs/**", "[ab].md", "a\\*b"}) {
    const auto error = PathPatterns::create({"*.md", pattern}).error();
    REQUIRE(error.code == ErrorCode::invalid);
    REQUIRE_THAT(error.message, Catch::Contains("\"" + std::string(pattern) + "\""));
  }
}

TEST_CASE("docs, tests, Markdown and .github cannot change the library, sources can") {
  for (const auto* path : {"docs/source/x.rst", "test/test_nn.py", "aten/README.md",
                           ".github/workflows/lint.yml", "tests/a.cpp"}) {
    REQUIRE(defaults().match(path));
  }
  for (const auto* path : {"aten/src/ATen/native/Linear.cpp", "CMakeLists.txt", "version.txt",
                           "torch/testing/x.py", "third_party/fbgemm", "tools/gen.py"}) {
    REQUIRE_FALSE(defaults().match(path));
  }
}

TEST_CASE("commits that cannot change the library are folded behind the one that can") {
  const std::vector<Commit> range{changing({"docs/a"}), changing({"c10/a.h", "docs/a"}),
                                  changing({"a.md"}),   changing({}),
                                  changing({"b.cpp"}),  changing({"test/x.py"})};
  const FoldedRange folded = fold(range, defaults());
  REQUIRE(folded.unchanged == std::vector<std::size_t>{0});
  REQUIRE(folded.classes == std::vector<CandidateClass>{{1, {2, 3}}, {4, {5}}});
}

TEST_CASE("a range in which nothing can change the library has no class") {
  const FoldedRange folded = fold({changing({"docs/a"}), changing({})}, defaults());
  REQUIRE(folded.classes.empty());
  REQUIRE(folded.unchanged.size() == 2);
  REQUIRE(fold({}, defaults()) == FoldedRange{});
}

TEST_CASE("without patterns only commits that change nothing are folded") {
  const auto none = PathPatterns::create({}).value();
  const FoldedRange folded = fold({changing({"docs/a"}), changing({})}, none);
  REQUIRE(folded.classes == std::vector<CandidateClass>{{0, {1}}});
}

TEST_CASE("builds with equal hashes join what lies between them") {
  const auto joined = join_equal("g", {"g", std::nullopt, "a", std::nullopt, "b", "a"});
  REQUIRE(joined == std::vector<SameLibrary>{{std::nullopt, 0}, {2, 5}});
  REQUIRE(join_equal("g", {std::nullopt, "a", "b"}).empty());
}
