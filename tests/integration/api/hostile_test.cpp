// Texts of others are inert in every page and in every twin, wherever they are stored.
#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <set>

#include "browser.hpp"
#include "page_checks.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/outbox_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

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
const std::set<std::string> kNotFree{"metric",      "variant",      "configuration", "spec_json",
                                     "result_json", "plan_json",    "summary_json",  "body_json",
                                     "facts",       "digest",       "sha256",        "scopes",
                                     "token",       "content_hash", "kind",          "state"};
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

struct Hostile : Api {
  explicit Hostile(const std::string& text) {
    fill();
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
    REQUIRE(OutboxStore(*database).queue(message));
    const auto asked = nlohmann::json{{"candidate", text}, {text, text}}.dump();
    REQUIRE(RequestStore(*database).receive("d " + text, RequestKind::nightly, asked, 1, {}));
    REQUIRE(BuildStore(*database).discover(BuildOrigin::folder, text));
    {
      const std::scoped_lock lock(mutex);
      problems = {{"outbox", text, 1, text, text}};
    }
    REQUIRE(spoil(database_path, text) > 20);
  }
};

std::string harm_in(const Api::Answer& answer) {
  const auto& type = answer.headers.at("content-type");
  if (type.starts_with("text/html")) return harm_in_html(answer.text);
  if (type.starts_with("text/csv")) return harm_in_csv(answer.text);
  if (type.starts_with("text/markdown")) return harm_in_markdown(answer.text);
  return type.find("json") == std::string::npos && !type.starts_with("text/css") ? type : "";
}

bool is_page(const std::string& path) {
  return !path.starts_with("/api/") && path != "/healthz" && path != "/metrics";
}

}  // namespace

TEST_CASE("hostile texts are inert in every page and twin, wherever they are stored") {
  const auto text = GENERATE(from_range(kHostile));
  INFO(text);
  Hostile api(text);
  Browser browser(api);
  browser.sign_in(kAnyToken);
  auto waiting = kPages;
  waiting.insert(waiting.end(), {"/outbox", "/requests/1", "/sign-in", "/builds/3",
                                 "/search?q=" + std::string("alert"), "/comparisons/1?only=all"});
  std::set<std::string> seen;
  std::map<int, int> statuses;
  constexpr std::size_t kLookedAt = 150;  // crawling finds the same kinds of pages again
  while (!waiting.empty() && seen.size() < kLookedAt) {
    const auto path = waiting.back();
    waiting.pop_back();
    if (!is_page(path) || !seen.insert(path).second) continue;
    INFO(path);
    const auto answer = browser.get(path);
    ++statuses[answer.status];
    CHECK(answer.status < 500);
    CHECK(harm_in(answer) == "");
    if (!answer.headers.at("content-type").starts_with("text/html")) continue;
    for (const auto& twin : alternates_of(path, answer.text)) waiting.push_back(twin);
    for (const auto& link : links_of(path, answer.text)) waiting.push_back(link);
  }
  CHECK(statuses[200] > 80);
}

TEST_CASE("harm would be found if there were any") {
  CHECK(harm_in_html("<p><img src=\"x\"></p>") != "");
  CHECK(harm_in_html("<p onclick=\"x\">a</p>") != "");
  CHECK(harm_in_html("<a href=\"javascript:x\">a</a>") != "");
  CHECK(harm_in_html("<a href=\"//evil.example\">a</a>") != "");
  CHECK(harm_in_html("<p>a</b>") != "");
  CHECK(harm_in_html("<a href=\"../b?c=d:e\" title=\"&lt;img onerror=x\">a</a>") == "");
  CHECK(harm_in_csv("a,b\r\n1,=c\r\n") == "=c");
  CHECK(harm_in_csv("a,\"@b\"\r\n") == "@b");
  CHECK(harm_in_csv("a,-1.5\r\n'=b,c\r\n") == "");
  CHECK(harm_in_markdown("a <b>") != "");
  CHECK(harm_in_markdown("[a](javascript:b)") != "");
  CHECK(harm_in_markdown("hello @team") != "");
  CHECK(harm_in_markdown("`<b>` and ``a ` <b>`` &lt;b>, \\[a\\](javascript:b)") == "");
}
