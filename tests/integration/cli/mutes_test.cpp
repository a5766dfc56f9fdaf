// Mutes and what people did to an issue, as commands show them, and how a person lifts a mute.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "carried_out_day.hpp"
#include "printed.hpp"
#include "torchwatch/access/audit_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/tracker/mute_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr storage::WallMillis kDay = 86'400'000;

struct MutedDay {
  MutedDay() : day(folder.path(), test::day_with_two_culprits()) {
    file = test::carried_out(day, folder);
    const auto database = open();
    const auto row = storage::IncidentStore(*database).list(1).value().front();
    incident = row.id;
    workload = row.series.front().series.benchmark.workload;
    storage::MuteStore mutes(*database);
    REQUIRE(mutes.add({.target = workload,
                       .until = now + kDay,
                       .made_by = "ada",
                       .reason = "known \x1b[31m upstream",
                       .asked_by = "github ada",
                       .made_at = now}));
    REQUIRE(
        mutes.add({.target = "resnet18", .until = now + kDay, .made_by = "bea", .reason = "x"}));
    REQUIRE(mutes.add({.target = workload, .until = now - 1, .made_by = "cem", .reason = "over"}));
    REQUIRE(storage::ConversationStore(*database).add_event({.id = 7,
                                                             .incident = incident,
                                                             .event = "closed",
                                                             .login = "bea",
                                                             .detail = "not_planned",
                                                             .happened_at = now}));
  }

  std::unique_ptr<storage::Database> open() const {
    return storage::Database::open({.path = day.config().storage.path}).value();
  }
  std::string run(const std::vector<std::string>& arguments) const {
    const auto printed = test::run_command(arguments, file);
    return printed.out + printed.err;
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  std::filesystem::path file;
  storage::WallMillis now = platform::SystemClock().wall_now();
  storage::Id incident = 0;
  std::string workload;
};

}  // namespace

TEST_CASE("an incident is shown with its mutes and with what people did to its issue") {
  const MutedDay day;
  const auto id = std::to_string(day.incident);
  const auto shown = day.run({"incident", "show", id});
  INFO(shown);
  CHECK_THAT(shown, Contains("What was done to the issue:") && Contains("closed by bea on "));
  CHECK_THAT(shown, Contains("1: " + day.workload + " until ") && Contains("by ada: known"));
  CHECK_THAT(shown, !Contains("resnet18 until") && !Contains("by cem") && !Contains("\x1b[31m"));
  const auto object = json::parse(day.run({"incident", "show", id, "--json"}));
  CHECK(object.at("mutes").size() == 1);
  CHECK(object.at("issue_events").at(0).at("detail") == "not_planned");
  CHECK_THAT(day.run({"series", "show", "--workload", day.workload}), Contains("muted (mute 1): "));
}

TEST_CASE("a mute is listed while it holds, and a person lifts it once") {
  const MutedDay day;
  CHECK_THAT(day.run({"mute", "list"}), Contains("resnet18") && !Contains("over"));
  CHECK_THAT(day.run({"mute", "list", "--all"}), Contains("over"));
  CHECK_THAT(day.run({"mute", "lift", "1"}), Contains("mute 1 lifted"));
  CHECK_THAT(day.run({"mute", "lift", "1"}), Contains("mute 1 has ended already"));
  CHECK_THAT(day.run({"mute", "lift", "99"}), Contains("mute 99"));
  CHECK(json::parse(day.run({"mute", "list", "--json"})).at("items").size() == 1);
  CHECK_THAT(day.run({"incident", "show", std::to_string(day.incident)}), !Contains("Muted"));
  const auto audit = storage::AuditStore(*day.open()).list(10).value();
  REQUIRE_FALSE(audit.empty());
  CHECK(audit.front().path == "/api/v1/mutes/1/lift");
}
