// Which builds of a package index are fetched, and when.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "fake_clock.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using channel::Offer;
using Names = std::vector<std::string>;
using storage::BuildState;

namespace {

/// Stands for an index: files with fingerprints, each a tree in a folder.
class FakeIndex final : public channel::Channel {
 public:
  explicit FakeIndex(std::unique_ptr<channel::Channel> trees) : trees_(std::move(trees)) {}

  /// Publishes the tree of that folder under a name, in place of what stood there.
  void publish(const std::string& name, const std::string& fingerprint, const std::string& tree) {
    const auto known = std::ranges::find(offers_, name, &Offer::name);
    if (known == offers_.end()) {
      offers_.push_back({name, fingerprint});
    } else {
      known->fingerprint = fingerprint;
    }
    files_[fingerprint] = tree;
  }
  void fail_with(std::optional<ErrorCode> code) { fault_ = code; }
  /// Keeps no more than the newest `count`.
  void forget_all_but(std::size_t count) {
    offers_.erase(offers_.begin(), offers_.end() - static_cast<std::ptrdiff_t>(count));
  }

  Result<std::vector<Offer>> list(std::stop_token) override { return offers_; }
  Result<builds::Tree> fetch(const Offer& offer, std::stop_token stop) override {
    fetched.push_back(offer.name);
    if (fault_) return fail(*fault_, "a fault of the test");
    return trees_->fetch({files_.at(offer.fingerprint)}, std::move(stop));
  }
  std::optional<std::size_t> at_first() const override { return 2; }
  std::string manner() const override { return configured; }

  Names fetched;
  std::string configured;  ///< how builds are fetched

 private:
  std::unique_ptr<channel::Channel> trees_;
  std::vector<Offer> offers_;
  std::map<std::string, std::string> files_;  ///< folder by fingerprint
  std::optional<ErrorCode> fault_;
};

/// A service that follows an index; trees "0" to "4" are those of five commits.
struct FollowedIndex {
  FollowedIndex()
      : day(folder.path(), {{"0", "noise 0.01"}, {"1", "# 1"}, {"2", "# 2"}, {"3", "# 3"}}) {
    for (std::size_t i = 0; i < day.commits().size(); ++i) {
      day.publish(std::to_string(i), day.commits()[i], "noise 0.01\n# " + std::to_string(i));
    }
  }

  /// Looks for new builds, as the daemon does each poll.
  void poll() {
    auto& own = service->services();
    comparison::Services services{own.config, own.database, own.executor, own.runners,
                                  index,      own.history,  own.commits,  clock,
                                  own.random, own.progress};
    REQUIRE(nightly::discover_comparisons(services, {}, nightly::Retry::when_due));
  }
  std::vector<storage::BuildRow> builds(BuildState state) {
    auto rows = storage::BuildStore(service->services().database).list().value();
    std::erase_if(rows, [&](const auto& row) { return row.state != state; });
    return rows;
  }
  std::size_t comparisons() {
    return storage::ComparisonStore(service->services().database).list(100).value().size();
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  test::FakeClock clock;
  std::unique_ptr<test::ScriptedService> service =
      test::ScriptedService::open(day.config()).value();
  FakeIndex index{channel::make_directory_channel(day.config().channel.path)};
};

}  // namespace

TEST_CASE("a service that begins takes the newest two builds of an index, then all that come") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n0", "a", "0");
  index.publish("n1", "b", "1");
  index.publish("n2", "c", "2");
  followed.poll();
  CHECK(index.fetched == Names{"n1", "n2"});
  followed.poll();
  CHECK(index.fetched.size() == 2);
  index.publish("n3", "d", "3");
  followed.poll();
  CHECK(index.fetched == Names{"n1", "n2", "n3"});
  CHECK(followed.comparisons() == 3);  // the oldest has nothing to be compared with
}

TEST_CASE("a build that was fetched by its name brings none of those that came after it") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n0", "a", "0");
  storage::BuildStore store(followed.service->services().database);
  auto row = store.discover(storage::BuildOrigin::nightly, "n0").value();
  row.version = "1";
  row.content_hash = "named";
  row.folder = followed.folder.path();
  REQUIRE(store.mark_ready(row));
  index.publish("n1", "b", "1");
  index.publish("n2", "c", "2");
  index.publish("n3", "d", "3");
  followed.poll();
  CHECK(index.fetched == Names{"n2", "n3"});
}

TEST_CASE("a file that is listed and not there is looked for again, and forgotten once unlisted") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n1", "a", "1");
  index.fail_with(ErrorCode::not_found);
  followed.poll();
  CHECK(followed.builds(BuildState::rejected).empty());
  index.fail_with(std::nullopt);
  followed.clock.advance(std::chrono::hours(1));
  followed.poll();
  CHECK(followed.builds(BuildState::ready).size() == 1);
}

TEST_CASE("a rejected file is fetched again when the configuration is mended, and once only") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.configured = "python3.9";
  index.publish("n1", "sha256=ab", "1");
  const auto days = [&](const std::string& configured) {
    index.configured = configured;
    for (int i = 0; i < 3; ++i) {
      followed.poll();
      followed.clock.advance(std::chrono::hours(24));
    }
    return index.fetched.size();
  };
  index.fail_with(ErrorCode::corrupt);
  CHECK(days("python3.9") == 1);
  CHECK(days("python3.10") == 2);  // which is refused for the same reason
  CHECK(followed.builds(BuildState::rejected).size() == 1);
  index.fail_with(std::nullopt);
  CHECK(days("python3.10") == 2);
  CHECK(days("python3.11") == 3);
  CHECK(followed.builds(BuildState::ready).size() == 1);
  CHECK(followed.builds(BuildState::ready)[0].fingerprint == "sha256=ab");
}

TEST_CASE("a rejected file is not fetched again before the index says that it changed") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n1", "a", "1");
  index.fail_with(ErrorCode::corrupt);
  for (int i = 0; i < 3; ++i) {
    followed.poll();
    followed.clock.advance(std::chrono::hours(24));
  }
  CHECK(index.fetched.size() == 1);
  REQUIRE(followed.builds(BuildState::rejected).size() == 1);
  CHECK(followed.builds(BuildState::rejected)[0].fingerprint == "a");
  index.fail_with(ErrorCode::unavailable);
  index.publish("n1", "b", "1");
  followed.poll();
  followed.poll();
  CHECK(index.fetched.size() == 2);  // the network waits for its turn
  index.fail_with(ErrorCode::corrupt);
  for (int i = 0; i < 3; ++i) {
    followed.clock.advance(std::chrono::hours(24));
    followed.poll();
  }
  CHECK(index.fetched.size() == 3);  // the other file is as bad, for the same reason
}

TEST_CASE("a rejected file of which the index says nothing is looked at ever later") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n1", "", "1");
  index.fail_with(ErrorCode::corrupt);
  for (int minutes = 0; minutes < 24 * 60; minutes += 10) {
    followed.poll();
    followed.clock.advance(std::chrono::minutes(10));
  }
  CHECK(index.fetched.size() < 60);  // of 144 polls
  CHECK(followed.builds(BuildState::rejected).size() == 1);
  index.fail_with(std::nullopt);
  followed.clock.advance(std::chrono::hours(1));
  followed.poll();
  CHECK(followed.builds(BuildState::ready).size() == 1);
}

TEST_CASE("a file that was replaced is another build, and one that is the same again is not") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n1", "a", "1");
  index.publish("n2", "b", "2");
  followed.poll();
  index.publish("n2", "c", "3");
  followed.poll();
  const auto builds = followed.builds(BuildState::ready);
  REQUIRE(builds.size() == 3);
  CHECK(builds[1].name == builds[2].name);
  CHECK(builds[1].content_hash != builds[2].content_hash);
  CHECK(followed.comparisons() == 3);
  index.publish("n2", "d", "3");
  followed.poll();
  followed.poll();
  CHECK(index.fetched == Names{"n1", "n2", "n2", "n2"});
  CHECK(followed.builds(BuildState::ready).size() == 3);
  CHECK(followed.builds(BuildState::discovered).empty());
  CHECK(followed.comparisons() == 3);
}

TEST_CASE("an index that begins to say more of its files has replaced none of them") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n1", "path=/n1", "1");
  index.publish("n2", "path=/n2", "2");
  followed.poll();
  index.publish("n1", "sha256=1a;size=5;path=/n1", "1");
  index.publish("n2", "sha256=2a;size=5;path=/n2", "2");
  followed.poll();
  index.publish("n2", "path=/n2", "2");
  followed.poll();
  CHECK(index.fetched == Names{"n1", "n2"});
  index.publish("n2", "sha256=2b;size=5;path=/n2", "3");
  followed.poll();
  followed.poll();
  CHECK(index.fetched == Names{"n1", "n2", "n2"});
  CHECK(followed.builds(BuildState::ready).size() == 3);
}

TEST_CASE("a rejected file is known again when the index says more of it") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n1", "path=/n1", "1");
  index.fail_with(ErrorCode::corrupt);
  followed.poll();
  for (const char* fingerprint : {"sha256=1a;path=/n1", "sha256=1b;path=/n1"}) {
    index.publish("n1", fingerprint, "1");
    followed.clock.advance(std::chrono::hours(24));
    followed.poll();
  }
  CHECK(index.fetched.size() == 2);
}

TEST_CASE("a replaced file that is damaged leaves the build that it replaced as it is") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n1", "a", "1");
  index.publish("n2", "b", "2");
  followed.poll();
  index.publish("n2", "c", "3");
  index.fail_with(ErrorCode::corrupt);
  followed.poll();
  followed.poll();
  CHECK(index.fetched.size() == 3);
  CHECK(followed.builds(BuildState::ready).size() == 2);
  CHECK(followed.builds(BuildState::rejected).size() == 1);
}

TEST_CASE("a nightly is compared with the one before it that the index has forgotten") {
  FollowedIndex followed;
  auto& index = followed.index;
  index.publish("n0", "a", "0");
  index.publish("n1", "b", "1");
  followed.poll();
  index.publish("n2", "c", "2");
  index.publish("n3", "d", "3");
  const auto forgotten = GENERATE(1U, 2U);
  index.forget_all_but(forgotten);
  followed.poll();
  const auto rows =
      storage::ComparisonStore(followed.service->services().database).list(100).value();
  const auto builds = followed.builds(BuildState::ready);
  const auto first =
      std::ranges::find(builds, forgotten == 1 ? "n3" : "n2", &storage::BuildRow::name);
  REQUIRE(first != builds.end());
  const auto row = std::ranges::find(rows, first->id, &storage::ComparisonRow::candidate);
  REQUIRE(row != rows.end());
  CHECK(row->baseline == std::ranges::find(builds, "n1", &storage::BuildRow::name)->id);
  CHECK(row->state == storage::ComparisonState::discovered);
  for (int i = 0; i < 3; ++i) followed.poll();
  CHECK(followed.comparisons() == rows.size());
  index.forget_all_but(1);
  followed.poll();
  CHECK(followed.comparisons() == rows.size());
}
