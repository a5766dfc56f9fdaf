// Random histories: whatever happens on the way, there is one issue for each incident, every
// comment is there once and in order, and nothing is lost.
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "file_content.hpp"
#include "github/description.hpp"
#include "history.hpp"
#include "memory_folder.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"

using namespace torchwatch;

namespace rc {

template <>
struct Arbitrary<Step> {
  static Gen<Step> arbitrary() {
    // Small histories, too, have steps of every kind.
    const auto below = [](int end) { return gen::resize(kNominalSize, gen::inRange(0, end)); };
    return gen::build<Step>(gen::set(&Step::what, below(kStepKinds)), gen::set(&Step::a, below(64)),
                            gen::set(&Step::b, below(64)));
  }
};

}  // namespace rc

namespace {

/// What all histories of a test share, because it takes a while to make.
struct Source {
  Source() {
    make_empty_database(folder.path() / "empty.sqlite");
    std::ofstream(key_file()) << key.secret;
    std::filesystem::permissions(key_file(), std::filesystem::perms::owner_read);
  }
  std::filesystem::path key_file() const { return folder.path() / "app.pem"; }
  std::filesystem::path database() const { return folder.path() / "history.sqlite"; }

  History begin(bool has_app, bool is_judged, config::FileWhen file_when) const {
    for (const char* const end : {"", "-wal", "-shm"}) {
      std::filesystem::remove(database().string() + end);
    }
    std::filesystem::copy_file(folder.path() / "empty.sqlite", database());
    return {{.database = database(),
             .has_app = has_app,
             .key = key,
             .key_file = key_file(),
             .parts = service->services(),
             .file_when = file_when},
            is_judged ? description : small};
  }

  test::MemoryFolder folder;
  test::RsaKey key = test::make_rsa_key();
  test::ApiDescription description = test::github_description();
  test::ApiDescription small = test::own_github_description();  // is copied sooner
  test::TemporaryFolder day_folder;
  test::ScriptedDay day{day_folder.path(), {{"One", "noise 0.01"}, {"Two", "# two"}}};
  std::unique_ptr<test::ScriptedService> service =
      test::ScriptedService::open(day.config()).value();
};

std::string all_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// Everything that must stay secret, and its parts that would give it away.
std::set<std::string> secrets_of(test::FakeGithubCore& core, const test::RsaKey& key) {
  std::set<std::string> secrets{"github_pat_a-token-for-tests-0123456789"};
  core.with([&](auto& github) {
    for (const auto& token : github.accounts.made_tokens()) secrets.insert(token);
    for (const auto& jwt : github.accounts.seen_jwts()) {
      secrets.insert(jwt.substr(0, jwt.rfind('.')));
      secrets.insert(jwt.substr(jwt.rfind('.') + 1));
    }
  });
  std::istringstream lines(key.secret);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("-----")) secrets.insert(line);
  }
  return secrets;
}

}  // namespace

TEST_CASE(
    "in 2,000 histories each incident that file_when lets through has one issue, each comment is "
    "there once, in order, and nothing is lost") {
  ::setenv("RC_PARAMS", "max_success=2000 max_size=40 seed=20261125", 1);
  const Source source;
  int count = 0;
  int kills = 0;
  std::map<config::FileWhen, std::pair<int, int>> filed;
  int umbrellas = 0;
  REQUIRE(rc::check([&](const std::vector<Step>& steps) {
    ++count;
    const bool is_judged = count % 200 == 0;  // by the description, which takes a second
    // A history that is made smaller is still one of its own setting.
    const auto first = steps.empty() ? Step{} : steps.front();
    const auto file_when = static_cast<config::FileWhen>(first.b % 3);
    auto history = source.begin(first.a % 2 == 0, is_judged, file_when);
    if (!is_judged) history.core().forget_exchanges();
    for (const auto& step : steps) history.take(step);
    history.end();
    kills += history.kills();
    umbrellas += history.incidents().umbrellas();
    const auto [with, without] = history.incidents().filed_and_not();
    filed[file_when].first += with;
    filed[file_when].second += without;
    auto complaints = history.complaints();
    if (is_judged) {
      for (auto& violation : history.core().violations()) complaints.push_back(violation);
    }
    if (!complaints.empty()) RC_FAIL(all_of(complaints));
  }));
  CHECK(kills > 300);  // of 14 kinds of steps one kills; of 12 it was more than 400
  CHECK(umbrellas > 400);
  // Both answers of each setting were tried, often.
  for (const auto& [file_when, counts] : filed) {
    CAPTURE(static_cast<int>(file_when), counts.first, counts.second);
    CHECK(std::min(counts.first, counts.second) > 300);
  }
  CHECK(filed.size() == 3);
}

TEST_CASE("after every fault no token, key, JWT or signature is in log, error, database or issue") {
  const Source source;
  for (const bool has_app : {false, true}) {
    auto history = source.begin(has_app, false, config::FileWhen::at_once);
    for (int which = 0; which < 80; ++which) {
      history.take({.what = 0});
      history.take({.what = 1, .a = which, .b = which});
      history.take({.what = 6, .a = 0, .b = which});
      if (which % 9 == 0) history.take({.what = 9});
      history.take({.what = 5, .a = which, .b = which});
      for (int pause = 0; pause < 3; ++pause) {
        history.take({.what = 3, .a = 3});
        history.take({.what = kStepKinds - 1});
      }
    }
    std::string seen;
    history.end();
    REQUIRE(all_of(history.complaints()).empty());
    seen += history.log_text();
    REQUIRE(seen.find("planted") != std::string::npos);
    const auto issues = history.core().with([](auto& core) { return core.world.issues; });
    for (const auto& issue : issues) {
      seen += issue.title + issue.body;
      for (const auto& comment : issue.comments) seen += comment.body;
    }
    const auto secrets = secrets_of(history.core(), source.key);
    CHECK(secrets.size() > (has_app ? 30U : 10U));
    history.close_database();
    for (const char* const end : {"", "-wal"})
      seen += test::content_of(source.database().string() + end);
    for (const auto& secret : secrets) {
      REQUIRE(secret.size() >= 8);
      CHECK(seen.find(secret) == std::string::npos);
    }
  }
}
