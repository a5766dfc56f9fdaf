// Texts of others are inert in every page and in every twin, wherever they are stored.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <iterator>
#include <set>

#include "browser.hpp"
#include "drawn.hpp"
#include "page_checks.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/site/twins.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/tracker/mute_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

const std::vector<std::string> kHostile{"<script>alert(1)</script>",
                                        "\"><img src=x onerror=alert(1)>",
                                        "' onmouseover='alert(1)",
                                        "</title></textarea></option><b>x",
                                        "=cmd|' /C calc'!A0",
                                        "@SUM(1+1)*cmd",
                                        "+1+cmd",
                                        "-2+cmd",
                                        "[x](javascript:alert(1)) ![y](https://evil.example/p.png)",
                                        "`</code><i>` @pytorch/team ``` <b>",
                                        "a\nb,\"c\r\n=d"};

/// Words of enumerations, documents, hashes, and names that something else refers to: texts that no
/// outsider writes, or that are not read once they are spoiled.
const std::set<std::string> kNotFree{
    "metric",       "variant",      "configuration", "spec_json", "result_json", "plan_json",
    "summary_json", "body_json",    "facts",         "digest",    "sha256",      "scopes",
    "token",        "content_hash", "kind",          "state",     "slot"};
const std::set<std::string> kNotTouched{"writer",          "event",          "outbox",  "request",
                                        "sqlite_sequence", "work_under_way", "sign_in", "daemon"};

/// Puts the text into every column of text that the schema lets it into; how many rows took it.
int spoil(const std::filesystem::path& file, const std::string& text) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  std::vector<std::pair<std::string, std::string>> columns;
  SQLite::Statement query(
      database,
      "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) "
      "AS c WHERE t.type = 'table' AND c.type = 'TEXT'");
  while (query.executeStep()) {
    columns.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
  }
  int spoilt = 0;
  for (const auto& [table, column] : columns) {
    if (kNotTouched.contains(table) || kNotFree.contains(column)) continue;
    try {
      SQLite::Statement change(database,
                               "UPDATE \"" + table + "\" SET \"" + column + "\" = ? || rowid");
      change.bind(1, text);
      spoilt += change.exec();
    } catch (const SQLite::Exception&) {
      // The schema has a list of words for it.
    }
  }
  return spoilt;
}

/// Renames the workload to what the row of its benchmark is called now, wherever something refers
/// to it by name: otherwise nothing of it would be drawn.
void rename_workload(const std::filesystem::path& file, const std::string& text) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  for (const auto& [table, column] : {std::pair("attempt", "slot"), {"bisection", "spec_json"}}) {
    const bool is_json = std::string(column).ends_with("_json");
    const std::string name = "(SELECT workload FROM benchmark ORDER BY id LIMIT 1)";
    const auto written = is_json ? "trim(json_quote(" + name + "), '\"')" : name;
    SQLite::Statement change(database, std::string("UPDATE ") + table + " SET " + column +
                                           " = replace(" + column + ", 'resnet18', " + written +
                                           ")");
    INFO(text);
    REQUIRE(change.exec() > 0);
  }
}

struct Hostile : Drawn {
  explicit Hostile(const std::string& text) {
    add_trace();
    add_self_test(Verdict::unchanged);
    REQUIRE(MuteStore(*database).add({.target = text, .made_by = text, .reason = text}));
    commit.subject = commit.author = commit.login = text;
    commit.changed_paths = build_log = {text};
    range.commits = {{.sha = text, .subject = text, .place = std::nullopt},
                     {.sha = "cccc", .subject = text, .place = 0}};
    range.series = {{{text, {Device::cpu, Mode::train}, {}}, Metric::time}};
    OutboxRow message;
    message.key = "key " + text;
    message.incident = 1;
    message.kind = OutboxKind::comment;
    message.title = text;
    message.body = text;
    message.target = text;  // a message elsewhere: those of an issue are of our own making
    REQUIRE(OutboxStore(*database).queue(message));
    const auto asked = nlohmann::json{{"candidate", text}, {text, text}}.dump();
    REQUIRE(RequestStore(*database).receive("d " + text, RequestKind::nightly, asked, 1, {}));
    REQUIRE(BuildStore(*database).discover(BuildOrigin::folder, text));
    {
      const std::scoped_lock lock(mutex);
      problems = {{"outbox", text, 1, text, text}};
    }
    REQUIRE(spoil(database_path, text) > 20);
    rename_workload(database_path, text);
  }
};

std::string harm_in(const Api::Answer& answer) {
  const auto& type = answer.headers.at("content-type");
  if (type.starts_with("text/html")) return harm_in_html(answer.text);
  if (type.starts_with("text/csv")) return harm_in_csv(answer.text);
  if (type.starts_with("text/markdown")) return harm_in_markdown(answer.text);
  if (type.starts_with("image/svg+xml")) return harm_in_svg(answer.text);
  // The feed has a test of its own in tests/integration/notify.
  const bool is_inert = type.find("json") != std::string::npos || type.starts_with("text/css") ||
                        type == "application/gzip" || type.starts_with("application/atom+xml");
  return is_inert ? "" : type;
}

bool is_page(std::string_view path) {
  return !path.starts_with("/api/") && path != "/healthz" && path != "/metrics";
}

/// The form that an address asks for: "/incidents/{id} .md"; empty where nothing is served.
std::string kind_of(const std::string& address, const Api& api) {
  http::Request request;
  request.method = "GET";
  request.path = address.substr(0, address.find('?'));
  const auto found = http::match(api.routes, request);
  if (!found) return "";
  const auto form = pages::split_ending(request.path).second;
  return std::string(found->route->path) + " " + std::string(pages::ending_of(form));
}

/// Pages that have the names of builds in their address.
std::vector<std::string> pages_of_names(const Api& api) {
  BuildStore builds(*api.reader);
  const auto older = http::percent_encoded(builds.get(1).value().name);
  const auto newer = http::percent_encoded(builds.get(2).value().name);
  return {"/nightlies/" + newer, "/compare/" + older + "..." + newer};
}

/// What can be asked for of all that is served to people: each page, its text and its document.
std::set<std::string> kinds_of(const Api& api, const std::string& text) {
  // A path cannot have a name with a slash in it.
  const std::set<std::string_view> of_names{
      "/nightlies/{name}", "/compare/{pair}",
      "/series/{workload}/{configuration}/{variant}/{metric}"};
  const bool has_slash = text.find('/') != std::string::npos;
  std::set<std::string> kinds;
  for (const auto& route : api.routes) {
    // The page of help is made of no document; the events have no end, and are for the script.
    if (route.method != "GET" || !is_page(route.path) || route.path == "/help.json") continue;
    if (route.path == "/events") continue;
    if (has_slash && of_names.contains(route.path)) continue;
    const auto form = pages::split_ending(std::string(route.path)).second;
    kinds.insert(std::string(route.path) + " " + std::string(pages::ending_of(form)));
    if (!route.path.ends_with('}')) continue;
    kinds.insert(std::string(route.path) + " .md");
    kinds.insert(std::string(route.path) + " .json");
  }
  return kinds;
}

/// Every address that pages lead to, from the front; of each kind a few.
struct Crawl {
  explicit Crawl(Hostile& service) : api(service), browser(service) { browser.sign_in(kAnyToken); }

  void look_at(const std::string& path) {
    constexpr int kOfEachKind = 3;  // more of them are made alike
    const auto kind = kind_of(path, api);
    const auto has_query = path.find('?') != std::string::npos;
    if (kind.empty() || !seen.insert(path).second) return;
    if (visits[kind + (has_query ? "?" : "")]++ >= kOfEachKind) return;
    INFO(path);
    const auto answer = browser.get(path);
    CHECK(answer.status < 500);
    CHECK(harm_in(answer) == "");
    if (answer.status == 200) found.insert(kind);
    if (!answer.headers.at("content-type").starts_with("text/html")) return;
    for (const auto& column : kColumnsOfDrawings) {
      if (count(answer.text, "data-column=\"" + column + "\"") > 0) drawn.insert(column);
    }
    for (const auto& twin : alternates_of(path, answer.text)) waiting.push_back(twin);
    for (const auto& link : links_of(path, answer.text)) waiting.push_back(link);
  }

  void run() {
    while (!waiting.empty()) {
      const auto path = waiting.front();
      waiting.pop_front();
      if (is_page(path)) look_at(path);
    }
  }

  Hostile& api;
  Browser browser;
  std::deque<std::string> waiting = {};
  std::set<std::string> seen = {};
  std::map<std::string, int> visits = {};
  std::set<std::string> found = {};  ///< kinds of addresses that were answered with 200
  std::set<std::string> drawn = {};  ///< columns that only one kind of drawing's table has
};

}  // namespace

TEST_CASE("hostile texts are inert in every page and twin, wherever they are stored") {
  const auto text = GENERATE(from_range(kHostile));
  INFO(text);
  Hostile api(text);
  Crawl crawl(api);
  for (const auto& pages : {kPages, Drawn::kMorePages, pages_of_names(api)}) {
    crawl.waiting.insert(crawl.waiting.end(), pages.begin(), pages.end());
  }
  for (const auto* more :
       {"/outbox", "/requests/1", "/mutes/1", "/sign-in", "/builds/3", "/search?q=alert",
        "/comparisons/1?only=all", "/incidents/1/evidence.svg", "/incidents/2/evidence.svg",
        "/incidents.atom"}) {
    crawl.waiting.emplace_back(more);
  }
  crawl.run();
  // Every page of the service was among them, in each of its forms, and every kind of drawing.
  std::vector<std::string> missing;
  std::ranges::set_difference(kinds_of(api, text), crawl.found, std::back_inserter(missing));
  CHECK(missing == std::vector<std::string>{});
  std::set<std::string> drawings(kColumnsOfDrawings.begin(), kColumnsOfDrawings.end());
  if (text.find('/') != std::string::npos) drawings.erase("build or event");  // of a series' page
  CHECK(crawl.drawn == drawings);
}

TEST_CASE("harm would be found if there were any") {
  CHECK(harm_in_html("<p><img src=\"x\"></p>") != "");
  CHECK(harm_in_html("<p onclick=\"x\">a</p>") != "");
  CHECK(harm_in_html("<a href=\"javascript:x\">a</a>") != "");
  CHECK(harm_in_html("<a href=\"//evil.example\">a</a>") != "");
  CHECK(harm_in_html("<p>a</b>") != "");
  CHECK(harm_in_html("<a href=\"../b?c=d:e\" title=\"&lt;img onerror=x\">a</a>") == "");
  const std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\">";
  CHECK(harm_in_svg(svg + "<text>&lt;b onload=x https://evil.example</text></svg>") == "");
  CHECK(harm_in_svg(svg + "<path fill=\"url(#a)\"/></svg>") == "");
  CHECK(harm_in_svg(svg + "<script>x</script></svg>") != "");
  CHECK(harm_in_svg(svg + "<text onload=\"x\">a</text></svg>") != "");
  CHECK(harm_in_svg(svg + "<a href=\"https://evil.example\">a</a></svg>") != "");
  CHECK(harm_in_svg(svg + "<path fill=\"url(//evil.example)\"/></svg>") != "");
  CHECK(harm_in_svg(svg + "<style>@import 'x'</style></svg>") != "");
  CHECK(harm_in_svg(svg + "<text>a & b</text></svg>") != "");
  CHECK(harm_in_svg(svg + "<text>a</svg>") != "");
  CHECK(harm_in_svg("<p>a</p>") != "");
  CHECK(harm_in_csv("a,b\r\n1,=c\r\n") == "=c");
  CHECK(harm_in_csv("a,\"@b\"\r\n") == "@b");
  CHECK(harm_in_csv("a,-1.5\r\n'=b,c\r\n") == "");
  CHECK(harm_in_markdown("a <b>") != "");
  CHECK(harm_in_markdown("[a](javascript:b)") != "");
  CHECK(harm_in_markdown("hello @team") != "");
  CHECK(harm_in_markdown("`<b>` and ``a ` <b>`` &lt;b>, \\[a\\](javascript:b)") == "");
}
