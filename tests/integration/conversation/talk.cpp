#include "talk.hpp"

#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/requests/check.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/webhooks/routes.hpp"
#include "torchwatch/webhooks/signature.hpp"

using namespace torchwatch;

namespace {

config::Config with_repository(config::Config config) {
  config.github.repository = kRepository;
  return config;
}

github::GithubSettings settings_with(const std::string& token) {
  github::GithubSettings settings;
  settings.repository = kRepository;
  settings.token = token;
  settings.write_interval = std::chrono::milliseconds(0);
  return settings;
}

}  // namespace

Talk::Talk(bool is_measured)
    : clock(platform::SystemClock().wall_now() / 1000 * 1000),
      github(kRepository, kToken, "torchwatch-account", clock),
      day(folder.path(), test::day_with_two_culprits()),
      service(test::ScriptedService::open(with_repository(day.config())).value()) {
  github.people.add("ada", 1, "admin");
  github.people.add("bea", 2, "write");
  github.people.add("cem", 3, "read");
  github.people.add("helpful[bot]", 4, "write", "Bot");
  auto& of = service->services();
  services_.reset(new comparison::Services{.config = of.config,
                                           .database = of.database,
                                           .executor = of.executor,
                                           .runners = of.runners,
                                           .channel = of.channel,
                                           .clock = clock,
                                           .random = of.random,
                                           .progress = of.progress});
  if (is_measured) {
    measure();
  } else {
    add_incident();
  }
  deliver();
  restart();
  routes = webhooks::routes({.database = database(),
                             .clock = clock,
                             .repository = kRepository,
                             .secret = kWebhookSecret,
                             .logger = log.logger("webhooks")});
}

void Talk::add_incident() {
  storage::BuildStore builds(database());
  storage::ComparisonStore comparisons(database());
  const auto build = builds.discover(storage::BuildOrigin::nightly, "2026-08-17").value();
  const auto comparison =
      comparisons.open({storage::Purpose::nightly, build.id, std::nullopt}, clock.wall_now())
          .value();
  storage::IncidentRow row;
  row.comparison = comparison.id;
  row.key = "time-cpu:abc";
  row.title = "[perf] slower";
  row.series = {
      {{{"dlrm", {Device::cpu, Mode::train}, {}}, Metric::time}, 1.15, 1.1, 1.2, 1, 1.15}};
  row.opened_at = clock.wall_now();
  const auto incident = storage::IncidentStore(database()).open(row).value();
  REQUIRE(comparisons.cancel(comparison.id, "by nobody", clock.wall_now()));
  storage::OutboxRow message;
  message.key = "open-1";
  message.incident = incident.id;
  message.title = row.title;
  message.body = "Slower.";
  REQUIRE(storage::OutboxStore(database()).queue(message));
}

void Talk::restart() {
  inbox = std::make_unique<conversation::Inbox>(conversation::Parts{
      .services = services(),
      .http = github,
      .github = settings_with(""),
      .settings = settings,
      .token = [] { return Result<std::string>(kToken); },
      .check_request = [this](storage::RequestKind kind, const nlohmann::json& body) -> Status {
        if (!refusal.empty()) return fail(ErrorCode::invalid, refusal);
        if (!pulls::is_pull_spec(body)) return {};
        TW_TRY_VOID(pulls::check(services().config, has_sandbox, body));
        TW_TRY(auto workloads, services().runners.workloads());
        return requests::check({.config = services().config, .workloads = std::move(workloads)},
                               kind, body, requests::Asking::from_elsewhere);
      },
      .logger = log.logger("conversation")});
}

void Talk::end() {
  inbox.reset();
  routes.clear();
  services_.reset();
  service.reset();
}

void Talk::deliver() {
  storage::OutboxStore messages(database());
  github::OutboxSender sender(messages, github, clock, settings_with(kToken));
  const auto delivered = sender.deliver_due({});
  REQUIRE(delivered);
}

int Talk::hook(const test::Delivery& delivery) {
  http::Request request;
  request.method = "POST";
  request.body = delivery.payload.dump();
  request.webhook = {.event = delivery.event,
                     .delivery = "delivery-" + std::to_string(++deliveries),
                     .signature = webhooks::signature_of(kWebhookSecret, request.body)};
  const auto reply = routes.front().handler(request);
  REQUIRE(reply);
  return reply->status;
}

std::string Talk::work() {
  const auto problem = inbox->work({});
  if (!problem) FAIL(problem.error().text());
  deliver();
  return *problem;
}

std::string Talk::newest_decision() {
  const auto row = incident();
  if (row.decisions.empty()) return "";
  const auto& [kind, decision] = row.decisions.back();
  return std::string(to_string(kind)) + " by " + decision.by + " (" + decision.asked_by +
         "): " + decision.reason;
}
