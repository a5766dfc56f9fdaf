// A request for a pull request that somebody cancels: all of it ends, and nothing stays.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>

#include "pulls_fixture.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::RequestState;

namespace fs = std::filesystem;

namespace {

constexpr const char* kBefore = "2026-08-16T01:00:00Z";
constexpr const char* kSlower = "time dlrm cpu-train 1.5";

/// Runners of whose heads something happens before the first is there.
class Meddling final : public comparison::RunnerSource {
 public:
  explicit Meddling(comparison::RunnerSource& of) : of_(of) {}

  Result<kits::Kit> kit_for(const builds::Tree& tree, const std::vector<std::string>& workloads,
                            std::stop_token stop) override {
    const bool is_head = tree.folder.string().find("/pulls/") != std::string::npos;
    if (is_head && meddle) std::exchange(meddle, nullptr)();
    return of_.kit_for(tree, workloads, stop);
  }
  Result<std::vector<std::string>> workloads() const override { return of_.workloads(); }

  std::function<void()> meddle;

 private:
  comparison::RunnerSource& of_;
};

struct CancelFixture : PullsFixture {
  CancelFixture() {
    heads.emplace(config, *runners, *processes,
                  pulls::HeadBuilds::Settings{
                      .kit_sources = "/nowhere",
                      .sandbox = sandbox,
                      .checkout =
                          [this](const std::string& sha, const fs::path& to) {
                            return bisect::check_out(folder.path() / "pytorch.git", sha, to);
                          },
                      .runners = &meddling});
  }

  RequestState state(storage::Id request) {
    return storage::RequestStore(database()).get(request).value().state;
  }
  void cancel(storage::Id request) {
    const auto cancelled = pulls::cancel_request(service->services(), request, {.token = "ci"});
    if (!cancelled) FAIL(cancelled.error().text());
  }
  /// Begins a request and breaks it off when its head is built, as a service does that stops.
  void break_off(storage::Id request) {
    std::stop_source stop;
    meddling.meddle = [&] { stop.request_stop(); };
    auto with = parts();
    const auto row = storage::RequestStore(database()).get(request).value();
    const auto done = pulls::carry_out(with, row, stop.get_token());
    REQUIRE_FALSE(done);
    REQUIRE(done.error().code == ErrorCode::cancelled);
  }
  bool is_kept(const std::string& head) {
    auto with = parts();
    REQUIRE(pulls::remove_cancelled(with));
    for (const auto& entry : fs::directory_iterator(pulls::folder_of_pulls(config) / "commits")) {
      const auto name = entry.path().filename().string();
      if (entry.is_directory() && name.starts_with(head)) return true;
    }
    return false;
  }

  Meddling meddling{*runners};
};

}  // namespace

TEST_CASE(
    "a request that is cancelled while its head is built compares nothing and keeps no build") {
  CancelFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push(kSlower, kBefore);
  const auto request = fixture.ask({}).id;
  fixture.meddling.meddle = [&] { fixture.cancel(request); };
  CHECK_THAT(fixture.carry_out(request), Contains("is cancelled already"));
  CHECK(fixture.state(request) == RequestState::cancelled);
  CHECK(storage::ComparisonStore(fixture.database()).list(10).value().empty());
  CHECK_FALSE(fixture.is_kept(head));
  CHECK_THAT(fixture.comment(), Contains("did not compare this pull request: it was cancelled"));
}

TEST_CASE("a request that is cancelled while it waits leaves no comparison and no build") {
  CancelFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push(kSlower, kBefore);
  const auto request = fixture.ask({}).id;
  fixture.break_off(request);
  storage::ComparisonStore comparisons(fixture.database());
  REQUIRE(comparisons.unfinished().value().size() == 1);
  CHECK(fixture.is_kept(head));
  fixture.cancel(request);
  CHECK(fixture.state(request) == RequestState::cancelled);
  CHECK(comparisons.unfinished().value().empty());
  CHECK(comparisons.list(10).value().front().state == storage::ComparisonState::cancelled);
  CHECK_FALSE(fixture.is_kept(head));
  CHECK_THAT(fixture.comment(), Contains("it was cancelled"));
  const auto again = pulls::cancel_request(fixture.service->services(), request, {.token = "ci"});
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::conflict);
}

TEST_CASE("the build of a cancelled request stays for another request that needs it") {
  CancelFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push(kSlower, kBefore);
  const auto first = fixture.ask({}).id;
  fixture.break_off(first);
  const auto second = fixture.ask({.head = head}).id;
  REQUIRE(second != first);
  fixture.break_off(second);
  fixture.cancel(first);
  CHECK(fixture.is_kept(head));
  fixture.cancel(second);
  CHECK_FALSE(fixture.is_kept(head));
}
