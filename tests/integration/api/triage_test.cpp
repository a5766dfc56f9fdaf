// What people decide, cancel and retry on the pages.
#include <catch2/catch.hpp>

#include "browser.hpp"
#include "torchwatch/access/audit_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

struct Triage : Api {
  Triage() { fill(); }

  IncidentRow incident() { return IncidentStore(*database).get(1).value(); }
  std::string newest_audit() {
    const auto rows = AuditStore(*database).list(1, INT64_MAX).value();
    return rows.empty() ? "" : rows[0].path + " by " + rows[0].asked_by;
  }
  /// A browser that is signed in and shows the page.
  Browser browser_at(const std::string& path, const char* token = kAnyToken) {
    Browser browser(*this);
    REQUIRE(browser.sign_in(token).status == 303);
    browser.get(path);
    return browser;
  }
};

/// The value by which a form that is sent twice is known.
std::string once_in(const std::string& html) {
  const std::string field = "name=\"once\" value=\"";
  const auto begin = html.find(field);
  REQUIRE(begin != std::string::npos);
  return html.substr(begin + field.size(),
                     html.find('"', begin + field.size()) - begin - field.size());
}

}  // namespace

TEST_CASE("an incident is decided on from its page, as its token, and the page says so once") {
  Triage api;
  auto browser = api.browser_at("/incidents/1", kTriagerToken);
  const auto answer =
      browser.post("/incidents/1/acknowledge", {{"reason", " on it\r\nsince noon \n"}});
  CHECK(answer.status == 303);
  CHECK(answer.headers.at("location") == "../1");
  CHECK(api.incident().state == IncidentState::acknowledged);
  const auto decision = api.incident().decisions.back().decision;
  CHECK(decision.by == "ada");
  CHECK(decision.asked_by == "token ada");
  CHECK(decision.reason == "on it\nsince noon");
  CHECK(api.newest_audit() == "/api/v1/incidents/1/acknowledge by token ada");
  CHECK(api.woken == 1);
  CHECK_FALSE(browser.get("/incidents").text.find("It is acknowledged.") != std::string::npos);
  const auto read_along = api.send("GET", "/incidents/1", "",
                                   {{"Cookie", browser.cookie}, {"If-None-Match", "\"live\", "}});
  CHECK_THAT(read_along.text, Contains("acknowledged by ada") && !Contains("It is acknowledged."));
  CHECK_THAT(browser.get("/incidents/1").text, Contains("role=\"status\">It is acknowledged.</p>"));
  CHECK_THAT(browser.get("/incidents/1").text, !Contains("It is acknowledged."));
}

TEST_CASE("every decision has its button, in the states in which it can be made") {
  Triage api;
  auto browser = api.browser_at("/incidents/1");
  const auto offers = [&](const std::string& verb) {
    return browser.get("/incidents/1").text.find("/incidents/1/" + verb + "\">") !=
           std::string::npos;
  };
  CHECK((offers("acknowledge") && offers("accept") && offers("close") && offers("retest")));
  CHECK_FALSE((offers("reopen") || offers("dispute")));  // no commit is named
  CHECK(browser.post("/incidents/1/acknowledge", {}).status == 303);
  CHECK_FALSE(offers("acknowledge"));
  CHECK(browser.post("/incidents/1/retest", {}).status == 303);
  CHECK(browser.post("/incidents/1/accept", {{"reason", "the price of a fix"}}).status == 303);
  CHECK(api.incident().acceptance->reason == "the price of a fix");
  CHECK((offers("reopen") && !offers("accept") && !offers("close")));
  CHECK(browser.post("/incidents/1/reopen", {}).status == 303);
  CHECK(browser.post("/incidents/1/close", {}).status == 303);
  CHECK(api.incident().state == IncidentState::closed);
  CHECK(browser.post("/incidents/1/dispute", {{"reason", "it changes a test"}}).status == 303);
  CHECK(api.newest_audit() == "/api/v1/incidents/1/dispute by token a test");
}

TEST_CASE("what is refused is said with its status, and what was typed stays") {
  Triage api;
  auto browser = api.browser_at("/incidents/1");
  const auto missing = browser.post("/incidents/1/accept", {});
  CHECK(missing.status == 400);
  CHECK_THAT(missing.text, Contains("<h1>Not done</h1>") && Contains("say why it is accepted") &&
                               Contains("<textarea") && Contains("Signed in with a test") &&
                               Contains("href=\"../../incidents/1\""));
  CHECK(browser.post("/incidents/1/close", {}).status == 303);
  const std::string typed = "</textarea><img src=x onerror=alert(1)>";
  const auto late = browser.post("/incidents/1/accept", {{"reason", typed}});
  CHECK(late.status == 409);
  CHECK_THAT(late.text, Contains("&lt;/textarea&gt;&lt;img src=x") && !Contains("<img"));
  CHECK(browser.post("/incidents/99/close", {{"reason", "kept"}}).status == 404);
  CHECK(browser.post("/incidents/x/close", {}).status == 404);
  const auto long_text = browser.post("/incidents/1/reopen", {{"reason", std::string(5'000, 'y')}});
  CHECK(long_text.status == 400);
  CHECK_THAT(long_text.text, Contains(std::string(5'000, 'y')));
  CHECK(browser.post("/incidents/1/reopen", {{"reason", "a\x01"}}).status == 400);
  CHECK(browser.get("/incidents/1/reopen").status == 405);
  CHECK(api.incident().state == IncidentState::closed);
}

TEST_CASE("who presses a button twice has decided once") {
  Triage api;
  auto browser = api.browser_at("/incidents/1");
  for (int i = 0; i < 2; ++i) {
    CHECK(browser.post("/incidents/1/close", {{"reason", "fixed"}}).status == 303);
  }
  CHECK(api.incident().decisions.size() == 1);
}

TEST_CASE("the scopes of the token decide what is offered and what is done") {
  Triage api;
  auto reader = api.browser_at("/incidents/1", kReaderToken);
  CHECK_THAT(reader.get("/incidents/1").text,
             !Contains("class=\"act\"") && Contains("the token a reader lacks the scope") &&
                 Contains("torchwatch token create NAME --scopes triage,measure"));
  const auto refused = reader.post("/incidents/1/close", {{"reason", "it was fixed"}});
  CHECK(refused.status == 403);
  CHECK_THAT(refused.text,
             Contains("lacks the scope triage") && Contains("needs the scope triage"));
  auto triager = api.browser_at("/incidents/1", kTriagerToken);
  CHECK_THAT(triager.get("/incidents/1").text,
             Contains("formaction=\"../incidents/1/close\"") &&
                 !Contains("formaction=\"../incidents/1/retest\"") &&
                 Contains("Retest: the token ada lacks the scope measure"));
  CHECK(triager.post("/incidents/1/retest", {}).status == 403);
  CHECK(api.incident().state == IncidentState::open);
  CHECK(api.newest_audit() == "");
}

TEST_CASE("who is not signed in reads how to be, and loses nothing of what was typed") {
  Triage api;
  Browser stranger(api);
  CHECK_THAT(stranger.get("/incidents/1").text,
             !Contains("class=\"act\"") && Contains("Sign in</a> with a token to decide here") &&
                 Contains("torchwatch incident acknowledge 1"));
  const auto refused = stranger.post("/incidents/1/close", {{"reason", "fixed by <i>me</i>"}});
  CHECK(refused.status == 401);
  CHECK_THAT(refused.text, Contains("fixed by &lt;i&gt;me&lt;/i&gt;") &&
                               Contains("href=\"../../sign-in?to=%2Fincidents%2F1\""));
  CHECK_THAT(api.get("/incidents/1.md").text, !Contains("Sign in") && !Contains("form"));
  CHECK(api.incident().state == IncidentState::open);
}

TEST_CASE("a comparison is cancelled and retried on its page") {
  Triage api;
  auto browser = api.browser_at("/comparisons/1");
  CHECK_THAT(browser.get("/comparisons/1").text, Contains("/comparisons/1/cancel\""));
  CHECK(browser.post("/comparisons/1/cancel", {}).status == 303);
  CHECK_THAT(browser.get("/comparisons/1").text,
             Contains("It is cancelled.") && Contains("/comparisons/1/retry\""));
  CHECK(browser.post("/comparisons/1/cancel", {}).status == 409);
  CHECK(browser.post("/comparisons/1/retry", {}).status == 303);
  CHECK(ComparisonStore(*api.database).get(1).value().ended_at == 0);
  CHECK(api.newest_audit() == "/api/v1/comparisons/1/retry by token a test");
}

TEST_CASE("a comparison of two builds is asked for on their page, once however often it is sent") {
  Triage api;
  const std::string page = "/compare/2.14.0.dev20260816...2.14.0.dev20260817";
  auto browser = api.browser_at(page);
  const auto before = browser.get(page).text;
  CHECK_THAT(before, Contains("formaction=\".." + page + "/queue\">Queue the comparison</button>"));
  const Browser::Fields form{{"once", once_in(before)}};
  const auto asked = browser.post(page + "/queue", form);
  CHECK(asked.status == 303);
  CHECK(asked.headers.at("location") == "../2.14.0.dev20260816...2.14.0.dev20260817");
  CHECK(browser.post(page + "/queue", form).status == 303);
  const auto requests = RequestStore(*api.database).list(10).value();
  REQUIRE(requests.size() == 1);
  CHECK(nlohmann::json::parse(requests[0].body_json) ==
        nlohmann::json{{"baseline", "2.14.0.dev20260816"},
                       {"candidate", "2.14.0.dev20260817"},
                       {"opens_incidents", false}});
  CHECK(api.newest_audit() == "/api/v1/comparisons by token a test");
  const auto after = browser.get(page).text;
  CHECK_THAT(after, Contains("It is asked for.</p>") &&
                        Contains("It is asked for: <a href=\"../requests/1\">request 1</a>") &&
                        !Contains("20260817/queue\""));
  // Once it has ended another one can be asked for.
  REQUIRE(RequestStore(*api.database).answer(1, RequestState::cancelled, "{}"));
  const auto again = browser.get(page).text;
  CHECK(browser.post(page + "/queue", {{"once", once_in(again)}}).status == 303);
  CHECK(RequestStore(*api.database).list(10).value().size() == 2);
}

TEST_CASE("why a comparison is not queued is said on a page, with the button again") {
  Triage api;
  const std::string page = "/compare/2.14.0.dev20260816...2.14.0.dev20260817";
  Browser stranger(api);
  CHECK_THAT(stranger.get(page).text,
             !Contains("class=\"act\"") && Contains("Sign in</a>") && !Contains("request 1"));
  CHECK(stranger.post(page + "/queue", {}).status == 401);
  auto triager = api.browser_at(page, kTriagerToken);
  CHECK_THAT(triager.get(page).text,
             !Contains("20260817/queue\"") && Contains("lacks the scope measure"));
  CHECK(triager.post(page + "/queue", {}).status == 403);
  auto browser = api.browser_at(page);
  browser.origin = "https://elsewhere.example";
  CHECK(browser.post(page + "/queue", {}).status == 403);
  browser.origin = api.url("");
  api.refusal = "a build \"x\" is not published";
  const auto refused = browser.post(page + "/queue", {{"once", once_in(browser.get(page).text)}});
  CHECK(refused.status == 422);
  CHECK_THAT(refused.text, Contains("<h1>Not done</h1>") && Contains("is not published.</p>") &&
                               Contains("/queue\">Queue the comparison</button>") &&
                               Contains("href=\"../.." + page + "\">Back to the page"));
  CHECK(browser.post("/compare/alone/queue", {}).status == 404);
  CHECK(RequestStore(*api.database).list(10).value().empty());
}

TEST_CASE("a build is pinned and released from its page, and the list says so") {
  Triage api;
  auto browser = api.browser_at("/builds/1");
  CHECK_THAT(browser.get("/builds/1").text,
             Contains("there, until the cache is full") && Contains("1.77\u00a0GiB") &&
                 Contains("formaction=\"../builds/1/pin\">Pin</button>"));
  CHECK(browser.post("/builds/1/pin", {}).status == 303);
  CHECK_THAT(browser.get("/builds/1").text, Contains("It is pinned: its files stay") &&
                                                Contains("/builds/1/unpin\">Let it go<") &&
                                                !Contains("/builds/1/pin\""));
  CHECK_THAT(browser.get("/builds").text, Contains("<span class=\"state pinned\">pinned</span>"));
  CHECK(browser.post("/builds/1/unpin", {}).status == 303);
  CHECK(api.newest_audit() == "/api/v1/builds/1/unpin by token a test");
  CHECK_THAT(browser.get("/builds/2").text,
             Contains("outside of [build] cache") && !Contains("class=\"act\""));
  auto triager = api.browser_at("/builds/1", kTriagerToken);
  CHECK_THAT(triager.get("/builds/1").text,
             Contains("Pin, Remove its files: the token ada lacks the scope admin"));
  CHECK(triager.post("/builds/1/pin", {}).status == 403);
  CHECK_FALSE(api.is_pinned);
}

TEST_CASE("the files of a build are removed from its page, while it is not pinned, by who may") {
  Triage api;
  auto browser = api.browser_at("/builds/1");
  CHECK_THAT(browser.get("/builds/1").text,
             Contains("formaction=\"../builds/1/remove-files\">Remove its files</button>"));
  auto triager = api.browser_at("/builds/1", kTriagerToken);
  CHECK_THAT(triager.get("/builds/1").text,
             Contains("Pin, Remove its files: the token ada lacks the scope admin") &&
                 !Contains("class=\"act\""));
  CHECK(triager.post("/builds/1/remove-files", {}).status == 403);
  const auto refused = browser.post("/builds/2/remove-files", {});
  CHECK(refused.status == 409);
  CHECK_THAT(refused.text, Contains("<h1>Not done</h1>") && Contains("not in the cache"));
  CHECK(api.removed_build == 0);
  const auto removed = browser.post("/builds/1/remove-files", {});
  CHECK(removed.status == 303);
  CHECK(removed.headers.at("location") == "../1");
  CHECK(api.removed_build == 1);
  CHECK(api.newest_audit() == "DELETE /api/v1/builds/1 by token a test");
  CHECK_THAT(browser.get("/builds/1").text, Contains("Its files are removed;"));
  api.is_pinned = true;
  CHECK_THAT(browser.get("/builds/1").text,
             !Contains("remove-files") && Contains("/builds/1/unpin"));
}

TEST_CASE("what waits is cancelled from the queue, by who may") {
  Triage api;
  const auto request =
      RequestStore(*api.database).receive("d1", RequestKind::nightly, "{}", 1, {}).value().first.id;
  const auto page = "/requests/" + std::to_string(request);
  Browser stranger(api);
  CHECK_THAT(stranger.get("/queue").text, !Contains("class=\"act\"") && Contains("Sign in</a>"));
  auto triager = api.browser_at("/queue", kTriagerToken);
  CHECK_THAT(triager.get("/queue").text,
             !Contains("/cancel\"") && Contains("lacks the scope measure"));
  auto browser = api.browser_at("/queue");
  CHECK_THAT(browser.get("/queue").text,
             Contains("formaction=\"comparisons/1/cancel\">Cancel comparison 1</button>") &&
                 Contains("formaction=\"" + page.substr(1) + "/cancel\">Cancel request " +
                          std::to_string(request) + "</button>"));
  CHECK(browser.post(page + "/cancel", {}).status == 303);
  CHECK_THAT(browser.get("/queue").text,
             !Contains(page.substr(1)) && Contains("comparisons/1/cancel"));
}

TEST_CASE("a bisection, a request and a message have their buttons, too") {
  Triage api;
  const auto request = RequestStore(*api.database)
                           .receive("d1", RequestKind::nightly, R"({"candidate":"<b>x"})", 1, {})
                           .value()
                           .first.id;
  const auto page = "/requests/" + std::to_string(request);
  auto browser = api.browser_at("/queue");
  CHECK_THAT(browser.get("/queue").text, Contains("href=\"requests/" + std::to_string(request)));
  CHECK_THAT(browser.get(page).text, Contains("&lt;b&gt;x") && Contains(page + "/cancel\""));
  CHECK(browser.post(page + "/cancel", {}).status == 303);
  CHECK_THAT(browser.get(page).text, Contains("It is cancelled.") && !Contains("class=\"act\""));
  CHECK(RequestStore(*api.database).get(request).value().state == RequestState::cancelled);
  CHECK_THAT(browser.get("/outbox").text, Contains("<option value=\"open:abc\">"));
  const auto sent = browser.post("/outbox/retry", {{"message", "open:abc"}});
  CHECK(sent.status == 303);
  CHECK(sent.headers.at("location") == "../outbox");
  CHECK_THAT(browser.get("/outbox").text, Contains("The message is due again."));
  CHECK(browser.post("/outbox/retry", {{"message", "open:nothing"}}).status == 404);
  CHECK(browser.post("/bisections/1/cancel", {}).status == 303);
  CHECK(api.newest_audit() == "/api/v1/bisections/1/cancel by token a test");
}

TEST_CASE("a stranger sees no title of a message, and nothing of what was asked for") {
  Triage api;
  const auto request =
      RequestStore(*api.database)
          .receive("d1", RequestKind::nightly, R"({"candidate":"/home/ada/x"})", 1, {.user = 1000})
          .value()
          .first.id;
  OutboxRow webhook;
  webhook.key = "webhook-chat-opened-1";
  webhook.kind = OutboxKind::webhook;
  webhook.target = "webhook/resnet18-chat";
  REQUIRE(OutboxStore(*api.database).queue(webhook));
  Browser stranger(api);
  const auto page = "/requests/" + std::to_string(request);
  for (const auto& path :
       {page, page + ".md", page + ".json", std::string("/outbox"), std::string("/outbox.md"),
        std::string("/outbox.csv"), std::string("/api/v1/outbox")}) {
    INFO(path);
    const auto seen = stranger.get(path);
    CHECK(seen.status == 200);
    CHECK_THAT(seen.text, !Contains("/home/ada") && !Contains("resnet18") && !Contains("uid 1000"));
  }
}
