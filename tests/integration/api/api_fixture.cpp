#include "api_fixture.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <regex>

#include "one_token.hpp"
#include "raw_client.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/forms/forms.hpp"
#include "torchwatch/notify/feed.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/site/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/traces/traces.hpp"
#include "torchwatch/webhooks/routes.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr const char* kWebhookSecret = "It's a Secret to Everybody";

Id ready_build(BuildStore& builds, const std::string& name) {
  auto row = builds.discover(BuildOrigin::nightly, name).value();
  row.version = "2.14.0";
  row.trunk_commit = "c0ffee";
  row.content_hash = "hash of " + name;
  row.folder = "/builds/" + name;
  return builds.mark_ready(row).value().id;
}

const Series kSeries{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};

VerdictRow verdict_of(const ComparisonRow& comparison) {
  VerdictRow verdict;
  verdict.comparison = comparison.id;
  verdict.series = kSeries;
  verdict.verdict = Verdict::regressed;
  verdict.ratio = 1.15;
  verdict.interval_low = 1.13;
  verdict.interval_high = 1.17;
  verdict.baseline_value = 2e6;
  verdict.candidate_value = 2.3e6;
  verdict.runs = 24;
  return verdict;
}

IncidentRow incident_of(const ComparisonRow& comparison) {
  IncidentRow row;
  row.comparison = comparison.id;
  row.key = "time-cpu:abc";
  row.title = "resnet18 cpu-train time +15.0 %";
  row.series = {{kSeries, 1.15, 1.13, 1.17, 2e6, 2.3e6}};
  row.opened_at = comparison.created_at;
  return row;
}

void add_bisection(Database& database, Id incident, WallMillis now) {
  BisectionStore bisections(database);
  BisectionRow row;
  row.incident = incident;
  row.good = "aaaa";
  row.bad = "bbbb";
  bisection::BisectionSpec spec;
  spec.base_folder = "/builds/secret";
  row.spec_json = to_json(spec);
  row.created_at = now;
  row = bisections.open(row).value();
  REQUIRE(bisections.append(row.id, {0, "built", R"({"candidate": 0, "commit": "cccc"})"}));
  bisection::BisectionResult result;
  result.outcome = bisection::BisectionOutcome::did_not_reproduce;
  result.ends = {{kSeries, 0.001, -0.002, 0.004, 12}};
  result.skipped = {{"cccc", "the recipe exited with 125"}};
  REQUIRE(bisections.end(row, to_json(result), now));
  REQUIRE(IncidentStore(database).attach_bisection(incident, row.id));
}

std::multimap<std::string, std::string> query_of(const std::string& series) {
  std::multimap<std::string, std::string> query;
  for (auto at = series.find('?'); at != std::string::npos; at = series.find('&', at + 1)) {
    const auto pair = series.substr(at + 1, series.find('&', at + 1) - at - 1);
    query.emplace(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
  }
  return query;
}

Api::Answer answer_of(const platform::HttpResponse& response) {
  return {response.status, nlohmann::json::parse(response.body, nullptr, false), response.body,
          response.headers};
}

/// The suite of one workload.
Result<nlohmann::json> suite() {
  return Result<nlohmann::json>(nlohmann::json::array(
      {{{"name", "resnet18"},
        {"domain", "computer vision"},
        {"task", "image classification"},
        {"train_batch", 16},
        {"eval_batch", 8},
        {"params_all", nullptr},
        {"configurations",
         {{{"configuration", "cpu-train"}, {"supported", true}, {"reason", nullptr}}}}}}));
}

}  // namespace

test::ApiDescription api_description() {
  return test::ApiDescription::read(std::string(TORCHWATCH_SOURCE_DIR) +
                                    "/service/api/openapi.json");
}

Api::Api(events::FeedLimits limits, const std::string& perfetto)
    : database(Database::open({database_path, "", false}).value()),
      reader(Database::open({.path = database_path, .read_only = true}).value()),
      client(platform::make_http_client("torchwatch-test")),
      feed(events::Feed::start(*database, {}, limits).value()) {
  routes = api::routes(backend(*database), backend(*reader));
  tokens = test::tokens_of({{kAnyToken, {1, all_scopes(), "a test"}},
                            {kReaderToken, {2, {Scope::read}, "a reader"}},
                            {kTriagerToken, {3, {Scope::read, Scope::triage}, "ada"}}});
  sign_ins = signin::SignIns::open({.database = *database,
                                    .clock = clock,
                                    .random = random,
                                    .find_token = [this](auto& of) { return tokens.find(of); },
                                    .public_address = "https://perf.example"})
                 .value();
  pages::Sources shown{
      .database = *reader,
      .clock = clock,
      .service_now = [this] { return service_now(); },
      .commit_of = [this](const auto& sha) { return facts_of(sha); },
      .build_log_of = [this](const auto&) { return build_log; },
      .count_commits = [this](const auto&, const auto&) { return commits; },
      .replay_of = [this](const auto& row) { return bisection::replay_of(*reader, row); },
      .range_of = [this](const auto&) { return range; },
      .suite = suite,
      .noise_of = [this](const auto& series) { return evidence::read_noise(*reader, series, {}); },
      .files_of = [this](const auto& build) { return files_of(build); },
      .take_note = [this](const auto& request) { return sign_ins->take_note(request); },
      .commits_address = "https://github.com/pytorch/pytorch",
      .issues_address = "https://github.com/owner/issues",
      .traces = folder.path() / "traces",
      .perfetto = perfetto,
      .no_nightly_alarm = std::chrono::hours(96),
      .cache_limit_bytes = std::int64_t{40} << 30,
      .api = routes};
  std::ranges::move(forms::routes({.sources = shown, .sign_ins = *sign_ins}),
                    std::back_inserter(routes));
  std::ranges::move(pages::routes(std::move(shown)), std::back_inserter(routes));
  std::ranges::move(webhooks::routes({.database = *database,
                                      .clock = clock,
                                      .repository = "owner/issues",
                                      .secret = kWebhookSecret}),
                    std::back_inserter(routes));
  routes.push_back(notify::feed_route({.database = *reader}));
  http::ServerSettings settings;
  settings.tokens = tokens;
  settings.tokens.find_signed_in = [this](const auto& request) { return sign_ins->find(request); };
  settings.page_of = pages::problem_page;
  settings.hosts = {"perf.example"};
  settings.trusted_proxies = {"127.0.0.1"};
  settings.socket = socket;
  settings.cors_origins = {"https://grafana.example"};
  settings.others_may_read = true;  // a test is a stranger when it says that it was forwarded
  server = http::Server::start(settings, routes, clock).value();
}

api::Backend Api::backend(Database& shown) {
  return {shown,
          clock,
          random,
          [this] { ++woken; },
          [this] { return service_now(); },
          [this](Id id, DecisionKind kind, Decision decision) {
            decision.at = clock.wall_now();
            return IncidentStore(*database).decide(id, kind, decision);
          },
          [this](const std::string& revoked) {
            ++tokens_changed;
            revoked_token = revoked;
            return Status{};
          },
          [this](Id, const Decision&) {
            return refusal.empty() ? Result<Id>(2) : Result<Id>(fail(ErrorCode::conflict, refusal));
          },
          [](Id) { return Result<std::pair<Id, bool>>(std::pair{Id{3}, true}); },
          [this](Id id, const Asker& asker) -> Status {
            TW_TRY_VOID(
                ComparisonStore(*database).cancel(id, "by " + to_string(asker), clock.wall_now()));
            return {};
          },
          [](Id, const Asker&) { return Status(); },
          [this](Id id, const Asker& asker) {
            return RequestStore(*database).answer(
                id, RequestState::cancelled,
                nlohmann::json{{"error", "cancelled by " + to_string(asker)}}.dump());
          },
          [&shown](const BisectionRow& row) { return bisection::replay_of(shown, row); },
          [this](RequestKind, const nlohmann::json&, bool) {
            return refusal.empty() ? Status() : Status(fail(ErrorCode::invalid, refusal));
          },
          suite,
          [this](const std::string&, const std::string&) { return commits; },
          [this] { ++tidied; },
          [this](const BuildRow& build, bool keep) {
            if (build.id == 1) is_pinned = keep;
            return Result<bool>(build.id != kOutsideTheCache);
          },
          [this](const BuildRow& build) -> Status {
            if (build.id == kOutsideTheCache) return fail(ErrorCode::conflict, "not in the cache");
            removed_build = build.id;
            return {};
          },
          [this] { return Result<std::filesystem::path>(database_path); },
          [this] { return database->check_invariants(); },
          feed.get(),
          "https://github.com/owner/issues",
          [this](const auto& build) { return files_of(build); },
          [this](const auto& series) { return evidence::read_noise(*reader, series, {}); },
          [past = std::make_shared<evidence::Pasts>(shown)](auto& of) { return past->of(of); }};
}

report::BuildFiles Api::files_of(const BuildRow& build) const {
  const bool is_first = build.id == 1;
  return {.were_there = !build.folder.empty(),
          .are_there = build.id <= kOutsideTheCache,
          .are_pinned = is_first && is_pinned,
          .are_in_cache = is_first,
          .bytes = is_first ? std::optional<std::int64_t>(1'900'000'000) : std::nullopt};
}

health::Report Api::service_now() {
  const std::scoped_lock lock(mutex);
  return {.problems = problems,
          .warnings = {"not as it should be"},
          .doing = doing,
          .free_cache_bytes = 5'000'000};
}

Api::~Api() {
  CHECK(api_description().violations(exchanges, test::ApiDescription::Undescribed::ignored) ==
        std::vector<std::string>{});
}

std::string Api::url(const std::string& series) const {
  return "http://127.0.0.1:" + std::to_string(server->port()) + series;
}

Api::Answer Api::send(const std::string& method, const std::string& series, const std::string& body,
                      const Headers& headers, const std::filesystem::path& over) {
  platform::HttpRequest request;
  request.method = method;
  request.url = url(series);
  request.body = body;
  request.headers = headers;
  request.socket = over;
  const auto response = client->send(request);
  INFO(method << " " << series);
  REQUIRE(response);
  const std::string type =
      response->headers.count("content-type") == 0 ? "" : response->headers.at("content-type");
  const auto sent_type = headers.count("Content-Type") == 0 ? "" : headers.at("Content-Type");
  // Over the Unix socket a request may leave out who sends it; described is what goes over TCP.
  if (!over.empty()) return answer_of(*response);
  exchanges.push_back({.method = method,
                       .path = series.substr(0, series.find('?')),
                       .query = query_of(series),
                       .content_type = sent_type,
                       .body = body,
                       .answer = {{response->status, type, response->body}}});
  return answer_of(*response);
}

Api::Answer Api::get(const std::string& series) {
  return send("GET", series, "", {{"Authorization", std::string("Bearer ") + kAnyToken}});
}

std::string Api::page(const std::string& series) {
  clock.advance(std::chrono::seconds(10));  // a page is kept for a while
  platform::HttpRequest request;
  request.method = "GET";
  request.url = url(series);
  const auto response = client->send(request);
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->headers.at("content-type") == "text/html; charset=utf-8");
  return std::regex_replace(response->body, std::regex("\u00a0"), " ");
}

std::string Api::compressed(const std::string& series) const {
  RawClient raw(server->port());
  raw.send(
      "GET " + series +
      " HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br, gzip\r\nConnection: close\r\n\r\n");
  return raw.rest();
}

Api::Answer Api::post(const std::string& series, const std::string& body, Headers headers) {
  headers.emplace("Content-Type", "application/json");
  headers.emplace("Authorization", std::string("Bearer ") + kAnyToken);
  return send("POST", series, body, headers);
}

Api::Answer Api::remove(const std::string& series) {
  return send("DELETE", series, "", {{"Authorization", std::string("Bearer ") + kAnyToken}});
}

Api::Answer Api::post_locally(const std::string& series, const std::string& body, Headers headers) {
  headers.emplace("Content-Type", "application/json");
  return send("POST", series, body, headers, socket);
}

Id Api::add_incident(const std::string& key) {
  auto row = incident_of(ComparisonStore(*database).get(1).value());
  row.key = key;
  return IncidentStore(*database).open(row).value().id;
}

void Api::fill() {
  BuildStore builds(*database);
  ComparisonStore comparisons(*database);
  const auto now = clock.wall_now();
  const Id baseline = ready_build(builds, "2.14.0.dev20260816");
  const Id candidate = ready_build(builds, "2.14.0.dev20260817");
  const auto comparison = comparisons.open({Purpose::nightly, candidate, baseline}, now).value();
  REQUIRE(comparisons.add_verdict(verdict_of(comparison)));
  const auto incident = IncidentStore(*database).open(incident_of(comparison)).value();
  add_bisection(*database, incident.id, now);
  OutboxRow message;
  message.key = "open:abc";
  message.incident = incident.id;
  message.title = "resnet18";
  message.body = "Slower.";
  REQUIRE(OutboxStore(*database).queue(message));
  add_run(comparison, now);
}

void Api::add_run(const ComparisonRow& comparison, WallMillis now) {
  RunStore runs(*database);
  const auto token = "run " + std::to_string(now);
  REQUIRE(runs.issue({.owner = {OwnerKind::comparison, comparison.id},
                      .slot = token,
                      .build = comparison.candidate,
                      .benchmark = kSeries.benchmark},
                     token, now));
  RunResult result;
  result.attempt = token;
  result.samples_ns = {40, 10, 30, 20, 50};
  result.values = {{Metric::time, 30}};
  result.environment.facts = {{"cpu_model", "Model X"}, {"cpus", "2"}, {"heap", "mapped"}};
  REQUIRE(runs.record({{token, result}}, now));
}

Id Api::add_trace(const std::string& text) {
  ComparisonStore comparisons(*database);
  const auto candidate = comparisons.get(1).value().candidate;
  const auto measurement =
      comparisons.open({.purpose = Purpose::measurement, .candidate = candidate}, 1).value();
  RunStore runs(*database);
  const auto run = runs.issue({.owner = {OwnerKind::comparison, measurement.id},
                               .slot = "alone/profile/" + to_string(kSeries.benchmark) + "/0",
                               .build = candidate,
                               .benchmark = kSeries.benchmark,
                               .pass = Pass::profile},
                              "a-profile", 1);
  REQUIRE(run);
  RunResult result;
  result.attempt = "a-profile";
  result.breakdown_reason = "a run on the CPU has no device";
  REQUIRE(runs.record({{"a-profile", result}}, 2));
  REQUIRE(traces::keep(folder.write("trace.json", text),
                       traces::file_of(folder.path() / "traces", "a-profile"))
              .value());
  return *run;
}

void Api::add_self_test(Verdict verdict) {
  ComparisonStore comparisons(*database);
  const auto comparison = comparisons.open({Purpose::self_test, 1, 1}, clock.wall_now()).value();
  auto row = verdict_of(comparison);
  row.verdict = verdict;
  REQUIRE(comparisons.add_verdict(row));
}

void Api::add_builds(int count) {
  BuildStore builds(*database);
  for (int i = 0; i < count; ++i) ready_build(builds, "build-" + std::to_string(i));
}
