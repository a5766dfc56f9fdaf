// Plays the browser and the person in front of it, with a GitHub that makes Apps.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "fake_random.hpp"
#include "file_content.hpp"
#include "github/client.hpp"
#include "github/description.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/registration/command.hpp"
#include "torchwatch/registration/made_app.hpp"

using namespace torchwatch;
using namespace torchwatch::registration;

namespace {

constexpr const char* kSecret = "the-secret-of-the-webhook";

/// What a command says while it runs.
class Said : public std::stringbuf {
 public:
  std::string wait_for(const std::string& text) {
    std::unique_lock lock(mutex_);
    said_.wait(lock, [&] { return copy_.find(text) != std::string::npos; });
    return copy_;
  }

 private:
  int sync() override {
    {
      const std::scoped_lock lock(mutex_);
      copy_ = str();
    }
    said_.notify_all();
    return 0;
  }
  std::mutex mutex_;
  std::condition_variable said_;
  std::string copy_;
};

/// Where a value of the page begins and ends.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  REQUIRE(from != std::string::npos);
  const auto start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

std::string unquoted(std::string text) {
  for (const auto& [entity, plain] : std::vector<std::pair<std::string, std::string>>{
           {"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    for (auto at = text.find(entity); at != std::string::npos; at = text.find(entity, at)) {
      text.replace(at, entity.size(), plain);
      at += plain.size();
    }
  }
  return text;
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat facts{};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777U;
}

struct Setup {
  Setup() {
    options.folder = folder.path() / "app";
    core.with([&](auto& github) {
      github.world.extra["app_codes"]["good-code"] = {{"id", 4711},
                                                      {"slug", "torchwatch-perf"},
                                                      {"client_id", "Iv1.abc"},
                                                      {"client_secret", "the-clients-secret"},
                                                      {"webhook_secret", kSecret},
                                                      {"pem", key.secret},
                                                      {"public_key", key.open}};
    });
  }

  commands::Outcome run(const platform::Clock& by, bool with_json = false) {
    commands::Invocation invocation{.out = out, .err = err, .stop = {}};
    invocation.json = with_json;
    return set_up(invocation, config, options, {http, by, random});
  }
  std::string printed() { return out.str() + said.str(); }
  void require_stored() const {
    const AppFiles files(options.folder);
    CHECK(mode_of(options.folder) == 0700);
    CHECK(mode_of(files.key) == 0600);
    CHECK(mode_of(files.webhook_secret) == 0600);
    CHECK(test::content_of(files.key) == key.secret);
    CHECK(test::content_of(files.webhook_secret) == kSecret);
  }
  void require_nothing_secret_printed() {
    for (const auto& secret : {std::string(kSecret), std::string("PRIVATE KEY"),
                               std::string("the-clients-secret"), std::string("good-code")}) {
      CHECK_THAT(printed(), !Catch::Contains(secret));
    }
  }

  test::TemporaryFolder folder;
  test::RsaKey key = test::make_rsa_key();
  test::FakeClock clock;
  test::FakeRandom random;
  test::JudgedGithubCore core{"owner/name", test::github_description(), clock};
  test::FakeGithubClient http{core, clock};
  config::Config config;
  SetupOptions options;
  std::ostringstream out;
  Said said;
  std::ostream err{&said};
};

platform::HttpResponse visit(const std::string& url) {
  const auto browser = platform::make_http_client("browser");
  platform::HttpRequest request;
  request.url = url;
  auto response = browser->send(request);
  REQUIRE(response);
  return *response;
}

}  // namespace

TEST_CASE("an App is made by a browser on this machine, and its secrets are stored") {
  Setup setup;
  setup.config.web.public_address = "https://perf.example";
  const platform::SystemClock real;
  commands::Outcome outcome;
  std::thread command([&] { outcome = setup.run(real); });
  const auto origin = between(setup.said.wait_for(" in a browser"), "Open ", "/ in a browser");
  const auto form = visit(origin + "/");
  CHECK_THAT(form.headers.at("content-security-policy"),
             Catch::Contains("form-action https://github.com/"));
  const auto state = between(form.body, "settings/apps/new?state=", "\"");
  CHECK(state.size() == 32);
  const auto manifest =
      nlohmann::json::parse(unquoted(between(form.body, "name=\"manifest\" value=\"", "\">")));
  CHECK(manifest["redirect_url"] == origin + "/created");
  CHECK(manifest["url"] == "https://perf.example");
  CHECK(manifest["hook_attributes"]["url"] == "https://perf.example/api/v1/webhooks/github");
  CHECK(visit(origin + "/created?code=good-code&state=of-another-page").status == 400);
  const auto done = visit(origin + "/created?code=good-code&state=" + state);
  command.join();
  CHECK(done.status == 200);
  CHECK_THAT(done.body, !Catch::Contains(kSecret));
  REQUIRE(outcome);
  CHECK(*outcome == commands::ExitStatus::done);
  setup.require_stored();
  CHECK_THAT(setup.out.str(), Catch::Contains("app_id = 4711\napp_key_file = \""));
  CHECK_THAT(setup.out.str(),
             Catch::Contains("https://github.com/apps/torchwatch-perf/installations/new"));
  setup.require_nothing_secret_printed();
}

TEST_CASE("an App is made by a browser on another machine") {
  Setup setup;
  setup.options.print_only = true;
  REQUIRE(setup.run(setup.clock));
  const auto state = between(setup.out.str(), "settings/apps/new?state=", "\"");
  CHECK(mode_of(AppFiles(setup.options.folder).state) == 0600);
  setup.options.print_only = false;
  const std::string address = "http://127.0.0.1:1/created?code=good-code&state=";
  setup.options.answer = address + "of-another-page";
  CHECK(setup.run(setup.clock).error().code == ErrorCode::invalid);
  setup.options.answer = address + state;
  setup.out.str("");
  CHECK(setup.run(setup.clock));
  const auto printed = between(setup.out.str(), "[github]\n", "\n\n");
  const auto file = setup.folder.write("made.toml", "[github]\n" + printed + "\n");
  const auto loaded = config::load(file, true);
  if (!loaded) FAIL(loaded.error().text());
  const AppFiles files(setup.options.folder);
  CHECK(loaded->github.repository == "OWNER/NAME");
  CHECK(loaded->github.app_id == 4711);
  CHECK(loaded->github.app_key_file == files.key);
  CHECK(loaded->github.webhook_secret_file == files.webhook_secret);
  setup.require_stored();
  setup.require_nothing_secret_printed();
  std::filesystem::remove(AppFiles(setup.options.folder).key);
  CHECK(setup.run(setup.clock).error().code == ErrorCode::not_found);  // it counts once
}

TEST_CASE("an answer from another machine that comes after an hour does not count") {
  Setup setup;
  setup.options.print_only = true;
  REQUIRE(setup.run(setup.clock));
  const auto state = between(setup.out.str(), "settings/apps/new?state=", "\"");
  setup.clock.advance(std::chrono::minutes(61));
  setup.options.answer = "http://127.0.0.1:1/created?code=good-code&state=" + state;
  CHECK(setup.run(setup.clock).error().code == ErrorCode::timed_out);
  CHECK(setup.core.requests().empty());
}

TEST_CASE("an App that was made is described in JSON where JSON is asked for") {
  Setup setup;
  setup.options.print_only = true;
  CHECK(setup.run(setup.clock, true).error().code == ErrorCode::invalid);
  REQUIRE(setup.run(setup.clock));
  setup.options.print_only = false;
  setup.options.answer = "http://127.0.0.1:1/created?code=good-code&state=" +
                         between(setup.out.str(), "settings/apps/new?state=", "\"");
  setup.out.str("");
  REQUIRE(setup.run(setup.clock, true));
  const auto made = nlohmann::json::parse(setup.out.str());
  std::ifstream file(std::string(TORCHWATCH_SOURCE_DIR) + "/docs/schemas/github_setup.json");
  const auto schema = nlohmann::json::parse(file);
  CHECK(made.size() == schema["required"].size());
  for (const auto& name : schema["required"]) CHECK(made.contains(name.get<std::string>()));
  CHECK(made["app_id"] == 4711);
  CHECK(made["webhook_secret_file"].get<std::string>().ends_with("/app/webhook-secret"));
}

TEST_CASE("nobody waits for an answer for ever") {
  Setup setup;
  const auto outcome = setup.run(setup.clock);  // its time passes by itself
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::timed_out);
}

TEST_CASE("an App that lies there is not overwritten, and GitHub is not asked for another") {
  Setup setup;
  std::filesystem::create_directories(setup.options.folder);
  setup.folder.write("app/app.pem", "the key of another App");
  setup.options.print_only = true;
  CHECK(setup.run(setup.clock).error().code == ErrorCode::conflict);
  CHECK(test::content_of(setup.options.folder / "app.pem") == "the key of another App");
  CHECK(setup.out.str().empty());
}

TEST_CASE("a code that GitHub does not know, and an answer without a key, make no App") {
  Setup setup;
  const auto unknown = fetch_app(setup.http, setup.clock, setup.config.github.api, "no-such-code");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::invalid);
  CHECK_THAT(unknown.error().text(), !Catch::Contains("no-such-code"));
  setup.core.with([](auto& github) {
    auto broken = github.world.extra["app_codes"]["good-code"];
    broken["pem"] = "no key";
    github.world.extra["app_codes"]["broken"] = broken;
    broken["slug"] = "x](javascript:alert(1))";
    github.world.extra["app_codes"]["hostile"] = broken;
  });
  for (const std::string code : {"broken", "hostile"}) {
    const auto made = fetch_app(setup.http, setup.clock, setup.config.github.api, code);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == ErrorCode::corrupt);
    CHECK_THAT(made.error().text(), !Catch::Contains("javascript"));
  }
}

TEST_CASE("an organization and a permission that cannot be are refused before anything is asked") {
  Setup setup;
  setup.options.print_only = true;
  setup.options.plan.organization = "py/torch?x";
  CHECK(setup.run(setup.clock).error().code == ErrorCode::invalid);
  setup.options.plan.organization = "";
  for (const std::string permission : {"contents", "contents=admin", "=write", "Contents=write"}) {
    setup.options.permissions = {permission};
    CHECK(setup.run(setup.clock).error().code == ErrorCode::invalid);
  }
  setup.options.permissions = {"contents=write"};
  CHECK(setup.run(setup.clock));
  CHECK_THAT(setup.out.str(), Catch::Contains("contents: write"));
}
