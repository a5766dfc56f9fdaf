#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/config/effective.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using Catch::Contains;
using torchwatch::test::TemporaryFolder;

namespace {

const std::string kWebhook =
    "[[notify.webhook]]\nname = \"chat\"\nurl = \"https://chat.example/hook\"\n"
    "secret_file = \"chat.secret\"\n";

std::string error_of(const std::string& text) {
  const TemporaryFolder folder;
  const auto result = load(folder.write("torchwatch.toml", text), true);
  REQUIRE_FALSE(result.has_value());
  return result.error().text();
}

}  // namespace

TEST_CASE("each table of a list is one element, and its paths start at the file") {
  const TemporaryFolder folder;
  const auto file = folder.write("torchwatch.toml",
                                 kWebhook +
                                     "events = [\"opened\", \"closed\"]\n"
                                     "[[notify.webhook]]\nname = \"board\"\n"
                                     "url = \"http://127.0.0.1:8080/in\"\nsecret_file = \"/b\"\n"
                                     "[[notify.mail]]\nname = \"list\"\n"
                                     "to = [\"perf@example.org\"]\nfrom = \"tw@example.org\"\n");
  const auto config = load(file, true);
  if (!config) FAIL(config.error().text());
  const auto& webhooks = config->notify.webhooks;
  REQUIRE(webhooks.size() == 2);
  CHECK(webhooks[0].name == "chat");
  CHECK(webhooks[0].secret_file == folder.path() / "chat.secret");
  CHECK(webhooks[0].events == std::vector<std::string>{"opened", "closed"});
  CHECK(webhooks[1].secret_file == "/b");
  CHECK(webhooks[1].events.empty());
  REQUIRE(config->notify.mails.size() == 1);
  CHECK(config->notify.mails[0].to == std::vector<std::string>{"perf@example.org"});
}

TEST_CASE("what is shown of a list of tables reads back as it is") {
  const TemporaryFolder folder;
  const auto file = folder.write("torchwatch.toml", kWebhook + "events = [\"opened\"]\n");
  std::string shown;
  const auto values = effective_values(file, true).value();
  for (const auto& value : values) {
    if (value.key.table == "notify" && value.key.name == "webhook") shown = value.value;
  }
  CHECK_THAT(shown, Contains("name = \"chat\""));
  const auto again =
      load(folder.write("again.toml", "[notify]\nwebhook = " + shown + "\n"), true).value();
  REQUIRE(again.notify.webhooks.size() == 1);
  CHECK(again.notify.webhooks[0].url == "https://chat.example/hook");
  CHECK(again.notify.webhooks[0].events == std::vector<std::string>{"opened"});
}

TEST_CASE("what is wrong in a table of a list names the list, the table, its line and the key") {
  CHECK_THAT(error_of(kWebhook + "urk = 1\n"),
             Contains("[notify] webhook: [[notify.webhook]] number 1 (line 1): urk: unknown key; "
                      "did you mean url? keys: name, url, secret_file, events"));
  CHECK_THAT(error_of(kWebhook + "[[notify.webhook]]\nname = \"b\"\n"),
             Contains("[[notify.webhook]] number 2 (line 5): secret_file is missing") ||
                 Contains("[[notify.webhook]] number 2 (line 5): url is missing"));
  CHECK_THAT(error_of(kWebhook + "events = [\"opened\", \"never\"]\n"),
             Contains("events: invalid"));
  CHECK_THAT(error_of(kWebhook + kWebhook), Contains("number 2 (line 5): is there twice"));
  CHECK_THAT(error_of("[notify]\nwebhook = 7\n"), Contains("must be a list: [[notify.webhook]]"));
  CHECK_THAT(error_of("[notify]\nwebhook = [7]\n"), Contains("number 1"));
}

TEST_CASE("events go over https, or to this machine, and never with a password in the address") {
  const auto with = [](const std::string& url) {
    return "[[notify.webhook]]\nname = \"a\"\nsecret_file = \"s\"\nurl = \"" + url + "\"\n";
  };
  const TemporaryFolder folder;
  for (const auto* url : {"https://chat.example", "https://chat.example:8443/a?b=c",
                          "http://127.0.0.1:80/x", "http://[::1]/x"}) {
    CAPTURE(url);
    CHECK(load(folder.write("torchwatch.toml", with(url)), true).has_value());
  }
  for (const auto* url :
       {"http://chat.example/x", "https://user:secret@chat.example/", "ftp://chat.example",
        "http://127.0.0.1.example/", "https://chat.example/#part", "https:///x", "file:///x", ""}) {
    CAPTURE(url);
    CHECK_THAT(error_of(with(url)), Contains("url: invalid value"));
  }
}

TEST_CASE("an address of a mail cannot hold a second header") {
  const auto with = [](const std::string& to, const std::string& from) {
    return "[[notify.mail]]\nname = \"a\"\nto = [\"" + to + "\"]\nfrom = \"" + from + "\"\n";
  };
  const std::string good = "perf@example.org";
  for (const auto* bad : {"a@b\\nBcc: c@d", "a b@example.org", "<a@example.org>", "a,b@example.org",
                          "-f@example.org", "perf", "@example.org", ""}) {
    CAPTURE(bad);
    CHECK_THAT(error_of(with(bad, good)), Contains("to: invalid value"));
    CHECK_THAT(error_of(with(good, bad)), Contains("from: invalid value"));
  }
}
