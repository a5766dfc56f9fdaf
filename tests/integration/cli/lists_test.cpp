// Lists on terminals of several widths: no width loses what tells their rows apart.
#include "golden.hpp"
#include "measured_nodes.hpp"
#include "stored_command_line.hpp"
#include "torchwatch/report/view.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using test::CommandLine;
using test::kNow;

namespace {

/// One of each: a build that is rejected, a comparison and a request that wait, a message that was
/// not delivered.
void store_one_of_each(const CommandLine& line) {
  line.store_culprit();
  const auto database = line.open();
  const auto rejected =
      BuildStore(*database).discover(BuildOrigin::nightly, "2.14.0.dev20260818").value();
  REQUIRE(BuildStore(*database).reject(
      rejected.id,
      "/srv/nightlies/2.14.0.dev20260818/lib/libtorch_cpu.so is not a library (no ELF "
      "header)"));
  const auto next = test::ready_build(*database, "2.14.0.dev20260819");
  const auto waiting = ComparisonStore(*database).open({Purpose::nightly, next, 2}, kNow).value();
  const auto wait = [&](ItemKind kind, Id id, const std::string& reason) {
    REQUIRE(SetbackStore(*database).record(
        {.key = {kind, std::to_string(id)}, .since = kNow, .not_before = kNow, .error = reason}));
  };
  wait(ItemKind::comparison, waiting.id,
       "the runner does not compile against the headers of 2.14.0.dev20260819");
  REQUIRE(RequestStore(*database).receive("d1", RequestKind::nightly, "{}", kNow));
  wait(ItemKind::request, 1, "cannot fetch PyTorch 9.9.9: no such release in the index");
  OutboxStore outbox(*database);
  REQUIRE(outbox.mark_sending("open:abc"));
  REQUIRE(outbox.record_failure(
      "open:abc", {.error = "GitHub rejected the token (expired or revoked?): put a new one into "
                            "the file that [github] token_file names",
                   .not_before = kNow}));
  OutboxRow webhook;
  webhook.key = "webhook-chat-opened-1";
  webhook.kind = OutboxKind::webhook;
  webhook.target = "webhook/chat";
  REQUIRE(outbox.queue(webhook));
  REQUIRE(outbox.mark_sending(webhook.key));
  REQUIRE(outbox.record_failure(
      webhook.key, {.error = "webhook chat answered 503", .failures = 2, .not_before = kNow}));
}

}  // namespace

TEST_CASE("a list is narrowed by the words that it shows") {
  const CommandLine line;
  store_one_of_each(line);
  const auto ids = [&](std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto items = nlohmann::json::parse(line.run(std::move(arguments)).out).at("items");
    std::vector<Id> listed;
    for (const auto& item : items) listed.push_back(item.at("id"));
    return listed;
  };
  CHECK(ids({"comparison", "list", "--state", "waiting"}) == std::vector<Id>{2});
  CHECK(ids({"comparison", "list", "--state", "reported"}) == std::vector<Id>{1});
  CHECK(ids({"comparison", "list", "--state", "regressed"}).empty());
  CHECK(ids({"incident", "list", "--state", "accepted"}).empty());
  REQUIRE(line.run({"incident", "accept", "1", "--by", "ada", "--reason", "the price"}).status ==
          0);
  CHECK(ids({"incident", "list", "--state", "accepted"}) == std::vector<Id>{1});
  CHECK(ids({"incident", "list", "--state", "closed"}) == std::vector<Id>{1});
  REQUIRE(RequestStore(*line.open())
              .receive("d2", RequestKind::nightly, R"({"candidate": "a", "baseline": "b"})", kNow));
  CHECK(ids({"request", "list", "--kind", "comparison"}) == std::vector<Id>{2});
  REQUIRE(RequestStore(*line.open())
              .receive("d3", RequestKind::nightly, R"({"candidate": "a", "passes": ["coverage"]})",
                       kNow));
  CHECK(ids({"request", "list", "--kind", "measurement"}) == std::vector<Id>{3});
  CHECK(ids({"build", "list", "--state", "unusable"}).empty());
  REQUIRE(BuildStore(*line.open()).set_unusable(1, "no file here"));
  CHECK(ids({"build", "list", "--state", "unusable"}) == std::vector<Id>{1});
}

TEST_CASE("a list warns of a workload that the suite does not have") {
  const CommandLine line;
  line.store_incident();
  const auto wrong = line.run({"incident", "list", "--workload", "resent18"});
  CHECK(wrong.status == 0);
  CHECK(wrong.out == "No incident.\n");
  CHECK_THAT(wrong.err, Contains("there is no workload \"resent18\"; did you mean resnet18"));
  CHECK(line.run({"incident", "list", "--workload", "resnet18"}).err.empty());
}

TEST_CASE("every command gives a comparison the members that the API gives it") {
  const CommandLine line;
  line.store_culprit();
  const auto members = [&] {
    const auto database = line.open();
    return report::json_of(*database, ComparisonStore(*database).get(1).value()).value();
  }();
  CHECK(members.at("baseline").at("name") == "2.14.0.dev20260816");
  const auto printed = [&](std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return nlohmann::json::parse(line.run(std::move(arguments)).out);
  };
  for (const auto& shown : {printed({"comparison", "list"}).at("items").at(0),
                            printed({"status"}).at("comparisons").at(0)}) {
    for (const auto& [name, value] : members.items()) CHECK(shown.at(name) == value);
  }
  const auto document = printed({"comparison", "show", "1"});
  for (const auto* name : {"incident", "state", "result", "reason", "waits_for", "ended_at"}) {
    CHECK(document.at(name) == members.at(name));
  }
  CHECK(document.at("nightly") == members.at("candidate").at("name"));
  CHECK(document.at("baseline") == members.at("baseline").at("name"));
  CHECK(printed({"status"}).at("self_tests").at("self_tests").empty());
  const auto incident = printed({"incident", "show", "1"});
  CHECK(incident.at("baseline") == members.at("baseline"));
  CHECK(incident.at("candidate") == members.at("candidate"));
}

TEST_CASE("the build list has null for what is not known") {
  const CommandLine line;
  line.store_incident();
  const auto printed = line.run({"build", "list", "--json"});
  const auto build = nlohmann::json::parse(printed.out).at("items").at(0);
  CHECK(build.at("reason").is_null());
  CHECK(build.at("unusable").is_null());
  CHECK(build.at("folder") == "/builds/2.14.0.dev20260816");
  CHECK(build.at("files") == "gone");
  CHECK(build.at("bytes").is_null());
}

TEST_CASE("the lists are whole at each width") {
  const CommandLine line;
  store_one_of_each(line);
  for (const int columns : {60, 80, 100, 200}) {
    std::string text;
    for (const std::string noun :
         {"comparison", "build", "incident", "bisection", "request", "outbox"}) {
      const auto printed = test::run_command({noun, "list"}, line.file, columns);
      CHECK(printed.status == 0);
      text += "$ torchwatch " + noun + " list\n" + printed.out + "\n";
    }
    CHECK_THAT(text, Contains("purpose") && Contains("baseline"));
    require_golden("lists_" + std::to_string(columns) + ".txt", text);
  }
}

TEST_CASE("a machine is shown with the nodes of its class, and which of them differs") {
  for (const double factor : {1.0, 1.3}) {
    INFO(factor);
    const CommandLine line;
    test::store_nightlies(*line.open(), {.factors = {1, factor}});
    const auto document = nlohmann::json::parse(line.run({"machine", "show", "1", "--json"}).out);
    const auto& nodes = document.at("nodes");
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[1].at("node") == "n2");
    CHECK(nodes[1].at("time").at("items") == 40);
    CHECK(nodes[1].at("time").at("ratio").get<double>() == Approx(factor).epsilon(0.02));
    CHECK(nodes[1].at("differs") == (factor > 1));
    CHECK(nodes[1].at("noisier") == false);
    const auto shown = line.run({"machine", "show", "1"}).out;
    CHECK_THAT(shown, Contains("time against the others") && Contains("n2"));
    CHECK((shown.find("differs") != std::string::npos) == (factor > 1));
    const auto status = line.run({"status"}).out;
    CHECK((status.find("--exclude=n2") != std::string::npos) == (factor > 1));
  }
}

TEST_CASE("a machine of a service without a cluster is shown without nodes") {
  const CommandLine line;
  test::store_nightlies(*line.open(), {.nodes = {"n1"}, .factors = {1}, .noise = {0.01}});
  const auto document = nlohmann::json::parse(line.run({"machine", "show", "1", "--json"}).out);
  CHECK(document.at("nodes").empty());
  CHECK_THAT(line.run({"machine", "show", "1"}).out, !Contains("against the others"));
}
