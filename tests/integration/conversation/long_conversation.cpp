// A conversation from the first issue to its end, as people have it on GitHub.
#include "talk.hpp"

using namespace torchwatch;
using storage::IncidentState;

void talk_until_it_is_fixed(Talk& talk) {
  auto& github = talk.github;
  talk.hear(github.people.comment("ada", 1, "> /ack they said\n\nI do not agree."));
  talk.hear(github.people.comment("ada", 1, "Write\n```\n/ack REASON\n```"));
  talk.hear(github.people.comment("cem", 1, "/bisect"));
  talk.hear(github.people.comment("cem", 1, "/retest"));
  talk.hear(github.people.comment("bea", 1, "/ack"));
  talk.hear(github.people.comment("bea", 1, "/ack it is known\r\n/retest"));
  talk.hear(github.people.comment("bea", 1, "/bisekt"));
  CHECK(talk.decisions() == 0);
  talk.hear(github.people.comment("bea", 1, "/ack it is known upstream"));
  CHECK(talk.newest_decision() == "acknowledged by bea (github bea): it is known upstream");
  talk.hear(github.people.comment("bea", 1, "Thanks."));
  talk.hear(github.people.edit_comment(github.issue(1).comments.back().id, "/unack"));
  CHECK(talk.incident().state == IncidentState::acknowledged);
  talk.hear(github.people.comment("ada", 1, "/wrong 1234567 it cannot be"));
  const auto first_search = talk.incident().bisection;
  talk.hear(github.people.comment("ada", 1, "/wrong the benchmark changed that day"));
  CHECK(talk.newest_decision() == "disputed by ada (github ada): the benchmark changed that day");
  CHECK(talk.incident().bisection != first_search);
  talk.measure();
  CHECK(talk.work().empty());
  talk.hear(github.people.comment("bea", 1, "Fixed by the revert.\n\n/retest"));
  // The fix is in the next nightly.
  talk.day.publish("2026-08-18", talk.day.commits().back(), "noise 0.01");
  talk.measure();
  CHECK(talk.work().empty());
  CHECK(talk.work().empty());
  CHECK(talk.incident().state == IncidentState::closed);
}
