#include "torchwatch/source/clone.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/history/commit_history.hpp"

using namespace torchwatch;
using Catch::Contains;
using source::Clone;

namespace fs = std::filesystem;

namespace {

process::ProcessRunner& processes() {
  static const auto runner =
      process::make_process_runner("integration-source-" + std::to_string(getpid()));
  return *runner;
}

/// A server that takes every connection and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    auto* address = reinterpret_cast<sockaddr*>(&address_);
    REQUIRE(::bind(socket_, address, size) == 0);
    REQUIRE(::listen(socket_, 8) == 0);
    REQUIRE(::getsockname(socket_, address, &size) == 0);
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)); }

 private:
  int socket_;
  sockaddr_in address_{};
};

/// A server's repository, and the clone that follows it.
struct Followed {
  Clone open() { return open("file://" + (folder.path() / "upstream").string()); }
  Clone open(const std::string& address) {
    auto clone =
        Clone::open({.address = address, .branch = "main", .folder = clone_folder()}, processes());
    if (!clone) FAIL(clone.error().message);
    return *std::move(clone);
  }
  fs::path clone_folder() const { return folder.path() / "state" / "source.git"; }
  bisect::CommitHistory history() const {
    return bisect::CommitHistory::open(clone_folder()).value();
  }
  std::string commit_on(const std::string& branch, const std::string& subject) {
    test::TestCommit commit;
    commit.branch = branch;
    commit.subject = subject;
    return upstream.commit(commit);
  }
  void move_branch(const std::string& sha) const {
    std::ofstream(folder.path() / "upstream" / "refs" / "heads" / "main") << sha << '\n';
  }

  test::TemporaryFolder folder;
  test::TestRepository upstream = make_upstream(folder.path() / "upstream");

 private:
  static test::TestRepository make_upstream(const fs::path& path) {
    fs::create_directories(path);
    return test::TestRepository(path);
  }
};

}  // namespace

TEST_CASE(
    "a clone is a repository at once, and has the trunk and the nightlies once it is fetched") {
  Followed followed;
  const auto trunk = followed.upstream.commit("One");
  const auto nightly = followed.commit_on("nightly", "2026-08-16 nightly release (" + trunk + ")");
  auto clone = followed.open();
  const auto history = followed.history();
  CHECK_FALSE(history.resolve("main"));
  REQUIRE(clone.refresh({}));
  CHECK(history.resolve("main") == trunk);
  CHECK(history.trunk_commit(nightly) == trunk);
  const auto newer = followed.upstream.commit("Two");
  REQUIRE(clone.refresh({}));
  CHECK(history.position(newer, "main") == 1);
}

TEST_CASE("a repository without nightlies is followed, and one without the trunk says so") {
  Followed followed;
  followed.commit_on("other", "Elsewhere");
  auto clone = followed.open();
  const auto refused = clone.refresh({});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  CHECK_THAT(refused.error().message, Contains("refs/heads/main"));
  followed.upstream.commit("One");
  CHECK(clone.refresh({}));
}

TEST_CASE("a branch that was pushed with force is followed, and what it lost stays") {
  Followed followed;
  const auto base = followed.upstream.commit("One");
  const auto lost = followed.upstream.commit("Two");
  auto clone = followed.open();
  REQUIRE(clone.refresh({}));
  test::TestCommit instead;
  instead.subject = "Two, otherwise";
  instead.parents = {base};
  const auto other = followed.upstream.commit(instead);
  REQUIRE(clone.refresh({}));
  const auto history = followed.history();
  CHECK(history.resolve("main") == other);
  CHECK(history.commit(lost)->subject == "Two");
  CHECK_FALSE(history.position(lost, "main"));
}

TEST_CASE("a commit that no branch holds is fetched alone, and a missing one is not found") {
  Followed followed;
  const auto base = followed.upstream.commit("One");
  const auto lost = followed.upstream.commit("Two");
  followed.move_branch(base);
  auto clone = followed.open();
  REQUIRE(clone.refresh({}));
  CHECK_FALSE(followed.history().commit(lost));
  std::ofstream(followed.upstream.path() / "config", std::ios::app)
      << "[uploadpack]\n\tallowAnySHA1InWant = true\n";
  REQUIRE(clone.fetch(lost, {}));
  CHECK(followed.history().commit(lost));
  const auto missing = clone.fetch(std::string(40, 'a'), {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
}

TEST_CASE("a server that is gone leaves the clone as it is, and its address keeps its password") {
  Followed followed;
  const auto tip = followed.upstream.commit("One");
  REQUIRE(followed.open().refresh({}));
  auto moved = followed.open("http://user:secret@127.0.0.1:9/pytorch.git");
  const auto refused = moved.refresh({});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  CHECK_THAT(refused.error().message, Contains("http://[redacted]@127.0.0.1:9/pytorch.git"));
  CHECK_THAT(refused.error().message, !Contains("secret"));
  CHECK(followed.history().resolve("main") == tip);
}

TEST_CASE("a server that takes the connection and never answers is given up, and named") {
  test::TemporaryFolder folder;
  const SilentServer server;
  setenv("no_proxy", "127.0.0.1", 1);
  auto clone = Clone::open({.address = server.url() + "/pytorch.git",
                            .branch = "main",
                            .folder = folder.path() / "source.git",
                            .stall_limit = std::chrono::seconds(1)},
                           processes());
  REQUIRE(clone);
  const auto refused = clone->refresh({});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  CHECK_THAT(refused.error().message, Contains(server.url()) && Contains("too slow"));
}

TEST_CASE("what a killed git left behind does not keep the next one from fetching") {
  Followed followed;
  followed.upstream.commit("One");
  auto clone = followed.open();
  REQUIRE(clone.refresh({}));
  const auto newer = followed.upstream.commit("Two");
  for (const char* left : {"refs/heads/main.lock", "packed-refs.lock", "config.lock",
                           "objects/pack/tmp_pack_abc", "shallow.lock"}) {
    fs::create_directories((followed.clone_folder() / left).parent_path());
    std::ofstream(followed.clone_folder() / left) << "half";
  }
  REQUIRE(clone.refresh({}));
  CHECK(followed.history().resolve("main") == newer);
  CHECK_FALSE(fs::exists(followed.clone_folder() / "objects/pack/tmp_pack_abc"));
}
