// What is asked of deploy/libtorch for a build by a workflow, and what is made of its answers.
// actions_build_test.py has the real program and a GitHub on loopback.
#include "torchwatch/channel/actions_builds.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "fake_process_runner.hpp"
#include "temporary_folder.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

const std::string kCommit(40, 'c');

/// deploy/libtorch that ends with a status and last words, or makes a tree.
struct Asking {
  test::TemporaryFolder folder;
  int status = 0;
  std::string said;
  Result<std::string> token = std::string("ghp_of-this-test");
  test::FakeProcessRunner processes{[this](const process::ProcessSpec& spec, std::stop_token) {
    const fs::path into = spec.arguments.back();
    if (status == 0) {
      fs::create_directories(into / "lib");
      std::ofstream(into / "build-hash") << kCommit;
    }
    return test::ended(process::Exited{status}, said);
  }};

  ActionsSettings settings() {
    folder.write("libtorch", "");
    return {.program = folder.path() / "libtorch",
            .folder = folder.path() / "commits",
            .api = "https://api.github.com",
            .repository = "owner/builds",
            .commits = "owner/source",
            .workflow = "build.yml",
            .ref = "main",
            .artifact = "libtorch",
            .token = [this] { return token; }};
  }

  Status make() {
    const auto tree = folder.path() / "tree";
    fs::create_directories(tree);
    return make_actions_builds(settings(), processes).make(kCommit, tree, {});
  }
};

}  // namespace

TEST_CASE_METHOD(Asking, "the token is in the environment, which nobody else reads") {
  REQUIRE(make());
  REQUIRE(processes.specs().size() == 1);
  const auto spec = processes.specs().front();
  CHECK(spec.environment.at("TORCHWATCH_ACTIONS_TOKEN") == *token);
  for (const auto& argument : spec.arguments) CHECK(argument.find(*token) == std::string::npos);
  for (const auto* wanted : {"--actions=owner/builds", "--commits=owner/source", "--ref=main",
                             "--workflow=build.yml", "--artifact=libtorch"}) {
    CHECK(std::ranges::count(spec.arguments, wanted) == 1);
  }
  CHECK(fs::exists(folder.path() / "tree" / "build-hash"));
  CHECK(fs::exists(folder.path() / "tree" / "lib"));
}

TEST_CASE_METHOD(Asking, "each end of the program has its code") {
  said = "looking\nerror: the run says no\n";
  for (const auto& [ended, code] : {std::pair{5, ErrorCode::invalid},
                                    {3, ErrorCode::not_found},
                                    {4, ErrorCode::corrupt},
                                    {1, ErrorCode::unavailable}}) {
    status = ended;
    const auto made = make();
    REQUIRE_FALSE(made);
    CHECK(made.error().code == code);
    CHECK(made.error().message == "the run says no");
  }
}

TEST_CASE_METHOD(Asking, "a token that cannot be read is waited for") {
  token = fail(ErrorCode::invalid, "the token's file is readable by others");
  const auto made = make();
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::unavailable);
  CHECK(processes.specs().empty());
}

TEST_CASE_METHOD(Asking, "another workflow, ref, artifact or extent makes other builds") {
  const auto first = make_actions_builds(settings(), processes).identity;
  auto other = settings();
  other.ref = "next";
  CHECK(make_actions_builds(other, processes).identity != first);
  other = settings();
  other.for_cuda = true;
  CHECK(make_actions_builds(other, processes).identity != first);
  other = settings();
  other.with_python = true;
  CHECK(make_actions_builds(other, processes).identity != first);
  other = settings();
  other.time_limit = std::chrono::seconds(1);
  CHECK(make_actions_builds(other, processes).identity == first);
}

}  // namespace torchwatch::channel
