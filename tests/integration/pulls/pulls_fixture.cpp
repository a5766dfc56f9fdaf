#include "pulls_fixture.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "skipped.hpp"
#include "test_repository.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;

namespace fs = std::filesystem;

namespace {

std::vector<test::ScriptedCommit> quiet_day() {
  return {{"Start of the day", "noise 0.01"}, {"Add an overload", "# overload"}};
}

/// What recipes of these tests read, which lie in the build folder.
sandbox::Settings sandbox_settings(const fs::path& folder) {
  sandbox::Settings settings;
  settings.search_path = process::kDefaultSearchPath;
  settings.readable = {fs::path(BINARY_FOLDER)};
  settings.link_targets = {folder};
  settings.hidden = {folder / "github.token"};
  return settings;
}

}  // namespace

PullsFixture::PullsFixture()
    : day(folder.path(), quiet_day()),
      config(day.config()),
      processes(process::make_process_runner(folder.path().string())),
      http(platform::make_http_client("torchwatch-test")),
      runners(test::make_scripted_runners()) {
  config.github.repository = kRepository;
  config.github.token_file = folder.write("github.token", std::string(kToken) + "\n");
  config.web.public_address = "https://perf.example";
  config.suite.workloads = {"dlrm"};
  config.suite.configurations = {{Device::cpu, Mode::train}};
  fs::copy(folder.path() / "pytorch.git", folder.path() / "fork.git", fs::copy_options::recursive);
  service = test::ScriptedService::open(config).value();
  clone = source::Clone::open({.address = (folder.path() / "fork.git").string(),
                               .branch = "main",
                               .folder = folder.path() / "pytorch.git"},
                              *processes)
              .value();
  service->services().source = &*clone;
  if (auto opened = sandbox::Sandbox::open(sandbox_settings(folder.path()), *processes)) {
    sandbox = std::move(*opened);
    has_sandbox = true;
  } else {
    test::say_skipped("there is no sandbox on this machine: " + opened.error().message);
  }
  heads.emplace(config, *runners, *processes,
                pulls::HeadBuilds::Settings{.kit_sources = "/nowhere",
                                            .sandbox = sandbox,
                                            .checkout =
                                                [this](const std::string& sha, const fs::path& to) {
                                                  return bisect::check_out(
                                                      folder.path() / "pytorch.git", sha, to);
                                                },
                                            .runners = runners.get()});
}

PullsFixture::~PullsFixture() = default;

std::string PullsFixture::push(const std::string& behaviour, const std::string& at) {
  test::TestRepository fork(folder.path() / "fork.git");
  const auto sha = fork.commit({.subject = "Change something",
                                .files = {{"aten/change", behaviour + "\n"}},
                                .parents = {day.commits().back()},
                                .author_time = {},
                                .branch = "change"});
  const auto ref = folder.path() / "fork.git/refs/pull/17/head";
  fs::create_directories(ref.parent_path());
  std::ofstream(ref) << sha << "\n";
  github.set_pull(17,
                  {.head = sha, .head_repository = kFork, .updated_at = "2027-01-01T00:00:00Z"});
  github.add_push({kFork, "change", sha, at});
  return sha;
}

storage::RequestRow PullsFixture::ask(pulls::PullSpec spec) {
  spec.pull = 17;
  if (spec.asked_at == 0) spec.asked_at = kAskedAt;
  const auto delivery = "comment " + std::to_string(++asked);
  auto stored = pulls::request_pull_comparison(database(), config, spec,
                                               {.delivery = delivery, .at = kAskedAt});
  if (!stored) FAIL(stored.error().text());
  return *stored;
}

pulls::PullParts PullsFixture::parts() {
  return {.services = service->services(),
          .heads = &*heads,
          .http = *http,
          .github = [this]() -> Result<github::GithubSettings> {
            github::GithubSettings settings;
            settings.repository = kRepository;
            settings.token = kToken;
            settings.api = github.url();
            return settings;
          }};
}

std::string PullsFixture::carry_out(storage::Id request) {
  storage::RequestStore requests(database());
  auto with = parts();
  const auto row = requests.get(request).value();
  const auto done = pulls::carry_out(with, row, {});
  if (done) {
    REQUIRE(requests.answer(request, storage::RequestState::done, *done));
    return "";
  }
  const auto now = requests.get(request).value();
  if (done.error().code == ErrorCode::invalid) {
    REQUIRE(pulls::conclude(with, now, done.error().text()));
  }
  return done.error().text();
}

std::string PullsFixture::comment() const {
  std::string newest;
  for (const auto& message : messages()) {
    if (message.kind == storage::OutboxKind::pull_comment) newest = message.body;
  }
  return newest;
}

std::vector<storage::OutboxRow> PullsFixture::messages() const {
  return storage::OutboxStore(service->services().database).unsent().value();
}

storage::Database& PullsFixture::database() {
  return service->services().database;
}
