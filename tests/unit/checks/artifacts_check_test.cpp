#include <catch2/catch.hpp>

#include "fake_http_client.hpp"
#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/checks/checks.hpp"

using namespace torchwatch;
using namespace torchwatch::checks;
using Catch::Contains;

namespace {

/// A repository of one commit, and a server that has builds.
struct Artifacts {
  CheckResult check(const std::string& artifacts, int status) {
    config.build.artifacts = artifacts;
    config.source.repository = repository.path();
    test::FakeHttpClient client([&](const platform::HttpRequest& request) {
      asked = request.url;
      return platform::HttpResponse{.status = status, .headers = {}, .body = {}};
    });
    return check_artifacts(config, client);
  }

  test::TemporaryFolder folder;
  test::TestRepository repository{folder.path() / "source.git"};
  std::string tip = repository.commit("first");
  config::Config config;
  std::string asked;
};

const std::string kAddress = "https://builds.example/{commit}/torch-{commit}.whl";

}  // namespace

TEST_CASE("builds of commits are looked for by the newest commit of the branch") {
  Artifacts artifacts;
  const auto found = artifacts.check(kAddress, 200);
  CHECK(found.severity == Severity::good);
  CHECK(found.found == "it has a build of " + artifacts.tip.substr(0, 12));
  CHECK(artifacts.asked ==
        "https://builds.example/" + artifacts.tip + "/torch-" + artifacts.tip + ".whl.sha256");
}

TEST_CASE("a server without that build may be the right one; one that refuses is an error") {
  Artifacts artifacts;
  const auto missing = artifacts.check(kAddress, 404);
  CHECK(missing.severity == Severity::unknown);
  CHECK_THAT(missing.found, Contains("no build of " + artifacts.tip.substr(0, 12)));
  for (const int status : {401, 403, 500}) {
    const auto refused = artifacts.check(kAddress, status);
    CHECK(refused.severity == Severity::error);
    CHECK(refused.found == "it answers " + std::to_string(status));
    CHECK_THAT(refused.remedy, Contains("the recipe builds every commit"));
  }
}

TEST_CASE("a server is asked although no commit is known here, and what it has stays unknown") {
  Artifacts artifacts;
  artifacts.config.source.branch = "gone";
  for (const int status : {200, 404}) {
    const auto found = artifacts.check(kAddress, status);
    CHECK(found.severity == Severity::unknown);
    CHECK_THAT(found.found, Contains("not known here"));
  }
}

TEST_CASE("a folder with builds of commits must be there") {
  Artifacts artifacts;
  const auto path = artifacts.folder.path().string();
  CHECK(artifacts.check(path + "/torch-{commit}.whl", 0).severity == Severity::good);
  const auto gone = artifacts.check(path + "/gone/{commit}/torch.zip", 0);
  CHECK(gone.severity == Severity::error);
  CHECK(gone.found == "there is no folder " + path + "/gone/");
  CHECK(artifacts.check("", 0).severity == Severity::good);
  CHECK(artifacts.asked.empty());
}
