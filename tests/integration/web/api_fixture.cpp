#include "api_fixture.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr const char* kToken = "tw_a-token-for-tests";

Id ready_build(BuildStore& builds, const std::string& name) {
  auto row = builds.discovered(BuildOrigin::nightly, name).value();
  row.version = "2.14.0";
  row.trunk_commit = "c0ffee";
  row.content_hash = "hash of " + name;
  row.folder = "/builds/" + name;
  return builds.became_ready(row).value().id;
}

const Target kTarget{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};

VerdictRow verdict_of(const NightRow& night) {
  VerdictRow verdict;
  verdict.night = night.id;
  verdict.target = kTarget;
  verdict.verdict = Verdict::regressed;
  verdict.ratio = 1.15;
  verdict.interval_low = 1.13;
  verdict.interval_high = 1.17;
  verdict.baseline_value = 2e6;
  verdict.candidate_value = 2.3e6;
  verdict.runs = 24;
  return verdict;
}

IncidentRow incident_of(const NightRow& night) {
  IncidentRow row;
  row.night = night.id;
  row.key = "time-cpu:abc";
  row.title = "resnet18 cpu-train time +15.0 %";
  row.targets = {{kTarget, 1.15, 1.13, 1.17, 2e6, 2.3e6}};
  row.opened_at = night.created_at;
  return row;
}

void add_bisection(Database& database, Id incident, WallMillis now) {
  BisectionStore bisections(database);
  BisectionRow row;
  row.incident = incident;
  row.good = "aaaa";
  row.bad = "bbbb";
  row.request_json = R"({"folder": "/builds/secret"})";
  row.created_at = now;
  row = bisections.opened(row).value();
  REQUIRE(bisections.happened(row.id, {0, "probed", R"({"commit": "cccc"})"}));
  REQUIRE(bisections.ended(row, R"({"culprit": "cccc"})", now));
  REQUIRE(IncidentStore(database).attached(incident, row.id));
}

std::string path_of(const std::string& target) {
  return target.substr(0, target.find('?'));
}

std::multimap<std::string, std::string> query_of(const std::string& target) {
  std::multimap<std::string, std::string> query;
  for (auto at = target.find('?'); at != std::string::npos; at = target.find('&', at + 1)) {
    const auto pair = target.substr(at + 1, target.find('&', at + 1) - at - 1);
    query.emplace(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
  }
  return query;
}

}  // namespace

test::ApiDescription api_description() {
  return test::ApiDescription::read(std::string(TORCHWATCH_SOURCE_DIR) +
                                    "/service/web/openapi.json");
}

Api::Api()
    : database(Database::open({folder.path() / "torchwatch.sqlite", "", false}).value()),
      http(doors::make_http_client("torchwatch-test")) {
  web::ServerSettings settings;
  settings.token_sha256 = web::hash_token(kToken);
  web::Backend backend{*database,
                       clock,
                       random,
                       [this] { ++woken; },
                       [this] {
                         const std::scoped_lock lock(mutex);
                         return trouble;
                       },
                       [this](const std::string& text) {
                         const std::scoped_lock lock(mutex);
                         log += text + "\n";
                       }};
  server = web::Server::start(settings, backend).value();
}

std::string Api::url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(server->port()) + target;
}

Api::Answer Api::send(const std::string& method, const std::string& target, const std::string& body,
                      const Headers& headers) {
  doors::HttpRequest request;
  request.method = method;
  request.url = url(target);
  request.body = body;
  request.headers = headers;
  const auto response = http->send(request);
  INFO(method << " " << target);
  REQUIRE(response);
  const std::string type =
      response->headers.count("content-type") == 0 ? "" : response->headers.at("content-type");
  const auto description = api_description();
  const bool is_described = description.find(method, path_of(target)).has_value();
  if (is_described) {
    CHECK(description.violations(method, path_of(target), response->status, type, response->body) ==
          std::vector<std::string>{});
  }
  if (is_described && response->status < 300) {
    const auto sent_type = headers.count("Content-Type") == 0 ? "" : headers.at("Content-Type");
    CHECK(description.violations({method, path_of(target), query_of(target), sent_type, body}) ==
          std::vector<std::string>{});
  }
  return {response->status, nlohmann::json::parse(response->body, nullptr, false), response->body,
          response->headers};
}

Api::Answer Api::get(const std::string& target) {
  return send("GET", target, "", {});
}

std::string Api::page(const std::string& target) {
  doors::HttpRequest request;
  request.method = "GET";
  request.url = url(target);
  const auto response = http->send(request);
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->headers.at("content-type") == "text/html; charset=utf-8");
  return response->body;
}

Api::Answer Api::post(const std::string& target, const std::string& body, Headers headers) {
  headers.emplace("Content-Type", "application/json");
  headers.emplace("Authorization", std::string("Bearer ") + kToken);
  return send("POST", target, body, headers);
}

void Api::fill() {
  BuildStore builds(*database);
  NightStore nights(*database);
  IncidentStore incidents(*database);
  const auto now = clock.wall_now();
  const Id baseline = ready_build(builds, "2.14.0.dev20260816");
  const Id candidate = ready_build(builds, "2.14.0.dev20260817");
  const auto night = nights.opened(NightKind::nightly, candidate, baseline, now).value();
  REQUIRE(nights.verdict_reached(verdict_of(night)));
  const auto incident = incidents.opened(incident_of(night)).value();
  add_bisection(*database, incident.id, now);
  OutboxRow message;
  message.key = "open:abc";
  message.incident = incident.id;
  message.title = "resnet18";
  message.body = "Slower.";
  REQUIRE(incidents.queued(message));
}

void Api::add_self_test(Verdict verdict) {
  NightStore nights(*database);
  const auto night = nights.opened(NightKind::self_test, 1, 1, clock.wall_now()).value();
  auto row = verdict_of(night);
  row.verdict = verdict;
  REQUIRE(nights.verdict_reached(row));
}

void Api::add_builds(int count) {
  BuildStore builds(*database);
  for (int i = 0; i < count; ++i) ready_build(builds, "build-" + std::to_string(i));
}
