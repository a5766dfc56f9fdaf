#include "torchwatch/report/incident_state.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/report/view.hpp"

using namespace torchwatch;
using namespace torchwatch::report;
using Catch::Contains;

TEST_CASE("an accepted incident is called so, whatever the store counts it among") {
  storage::IncidentRow incident;
  CHECK(state_word(incident) == "open");
  incident.state = storage::IncidentState::closed;
  CHECK(state_word(incident) == "closed");
  incident.acceptance = storage::Decision{"ada", "the price of a fix", 86'400'000};
  CHECK(state_word(incident) == "accepted");
}

TEST_CASE("an acceptance says by whom, why and when, and is null where there was no acceptance") {
  CHECK(json_of(std::nullopt).is_null());
  CHECK(json_of(storage::Decision{"ada", "the price of a fix", 86'400'000}) ==
        nlohmann::json{
            {"by", "ada"}, {"reason", "the price of a fix"}, {"at", "1970-01-02T00:00:00Z"}});
}

TEST_CASE("what became of the issue is said with what can be done") {
  CHECK(issue_text({}) == "no issue yet");
  CHECK(issue_text({}, "the change did not reproduce") ==
        "not filed: the change did not reproduce");
  storage::OutboxRow message;
  message.key = "open-1";
  CHECK(issue_text({message}) == "in the outbox, not filed yet");
  message.last_error = "GitHub rejects the token";
  CHECK(issue_text({message}) == "in the outbox, not filed yet: GitHub rejects the token");
  message.state = storage::OutboxState::dead;
  CHECK_THAT(issue_text({message}), Contains("`torchwatch outbox retry open-1`"));
}

TEST_CASE(
    "an issue's text is the newest, its comments follow, and what goes elsewhere is left out") {
  const auto message = [](storage::OutboxKind kind, const std::string& title,
                          const std::string& body, const std::string& target = {}) {
    storage::OutboxRow row;
    row.kind = kind;
    row.title = title;
    row.body = body;
    row.target = target;
    return row;
  };
  const std::vector messages{
      message(storage::OutboxKind::open, "old", "Old.\n"),
      message(storage::OutboxKind::pull_comment, "", "At the pull request.", "pull/1"),
      message(storage::OutboxKind::edit, "", "", "author/5d1c"),
      message(storage::OutboxKind::edit, "new", "New.\n"),
      message(storage::OutboxKind::comment, "old", "A comment.\n")};
  CHECK(issue_markdown(messages) == "# new\n\nNew.\n\n# old\n\nA comment.\n\n");
  CHECK(issue_in(messages)->title == "new");
  CHECK_FALSE(issue_in({}));
}
