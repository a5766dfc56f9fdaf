#include "torchwatch/terminal/status_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/culprit_tally.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

constexpr storage::WallMillis kSecond = 1000;
/// A nightly appears each day; after two days without one something upstream or here is broken.
constexpr storage::WallMillis kOld = 2 * 24 * 3600 * kSecond;

std::string age_text(storage::WallMillis at, storage::WallMillis now) {
  return figures::age(static_cast<double>(now - at) / kSecond);
}

std::size_t dead_messages(const StatusFacts& facts) {
  return static_cast<std::size_t>(
      std::ranges::count(facts.unsent, storage::OutboxState::dead, &storage::OutboxRow::state));
}

/// The problems that concern the whole service. Those of items are listed with what they wait for.
std::vector<health::Problem> problems_of_service(const StatusFacts& facts) {
  auto problems = facts.service.report.problems;
  std::erase_if(problems, health::is_of_item);
  return problems;
}

std::vector<storage::SetbackRow> items_put_off(const StatusFacts& facts) {
  auto items = facts.waiting;
  std::erase_if(items, [](const auto& row) { return is_of_service(row.key.kind); });
  return items;
}

bool somebody_works(const ServiceNow& service) {
  return service.daemon || service.writer || !service.not_asked.empty();
}

/// The searches that nobody carries on. Where somebody works, they are under way or their turn
/// comes.
std::size_t searches_that_wait(const StatusFacts& facts) {
  if (somebody_works(facts.service)) return 0;
  const auto is_put_off = [&](const storage::BisectionRow& row) {
    const storage::ItemKey key{storage::ItemKind::bisection, std::to_string(row.id)};
    return std::ranges::find(facts.waiting, key, &storage::SetbackRow::key) != facts.waiting.end();
  };
  return facts.searches.size() -
         static_cast<std::size_t>(std::ranges::count_if(facts.searches, is_put_off));
}

std::size_t number_that_waits(const StatusFacts& facts) {
  return facts.queue.comparisons + facts.queue.requests + searches_that_wait(facts);
}

/// "2 comparisons and 1 request wait"; empty where nothing is in the queue.
std::string queue_text(const StatusFacts& facts) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t number, const char* noun) {
    if (number > 0) parts.push_back(figures::count(number, noun));
  };
  add(facts.queue.comparisons, "comparison");
  add(facts.queue.requests, "request");
  add(searches_that_wait(facts), "bisection");
  if (parts.empty()) return {};
  const auto last = parts.back();
  parts.pop_back();
  return fmt::format("{}{}{} {}", fmt::join(parts, ", "), parts.empty() ? "" : " and ", last,
                     number_that_waits(facts) == 1 ? "waits" : "wait");
}

std::string turn_text(const StatusFacts& facts) {
  return number_that_waits(facts) == 1 ? " for its turn." : " for their turn.";
}

bool waits_for_daemon(const StatusFacts& facts) {
  return !somebody_works(facts.service) && number_that_waits(facts) > 0;
}

std::vector<std::string> problems(const StatusFacts& facts) {
  std::vector<std::string> found;
  const auto add = [&](std::size_t number, std::string_view noun, std::string_view what) {
    if (number > 0) found.push_back(figures::count(number, noun) + std::string(what));
  };
  add(problems_of_service(facts).size(), "problem", " of the service");
  if (waits_for_daemon(facts)) found.push_back(queue_text(facts) + " and no daemon runs");
  add(facts.open.size(), "open incident", "");
  add(items_put_off(facts).size(), "item", " put off");
  add(dead_messages(facts), "message", " given up");
  add(facts.left_out.size(), "nightly", " left out");
  if (facts.newest && facts.now - facts.newest->comparison.created_at > kOld) {
    found.push_back("the newest nightly came " +
                    age_text(facts.newest->comparison.created_at, facts.now));
  }
  return found;
}

/// Whether anything is wrong, in a sentence or two.
std::string sentence_of(const StatusFacts& facts, const std::vector<std::string>& found) {
  const auto queue = queue_text(facts);
  auto text = !found.empty()   ? fmt::format("Look at this: {}.", fmt::join(found, ", "))
              : !queue.empty() ? "All is well: no open incident, " + queue + turn_text(facts)
                               : "All is well: no open incident, nothing waits.";
  return text;
}

void print_sentence(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  const auto found = problems(facts);
  const auto lines = wrapped(sentence_of(facts, found), screen.columns, 2);
  out << painted(lines.substr(0, lines.size() - 1), found.empty() ? Tone::good : Tone::bad, screen)
      << '\n';
}

/// "is at work: preparing the runner of 2026-08-17 (comparison 2)".
std::string doing_text(const health::Doing& doing) {
  if (doing.since == 0) return "waits for work";
  std::string text = doing.what.empty() ? "is at work" : "is at work: " + doing.what;
  if (doing.comparison) text += fmt::format(" (comparison {})", *doing.comparison);
  return text;
}

/// ", since 40 s"; empty where nothing is done.
std::string since_text(const health::Doing& doing, storage::WallMillis now) {
  if (doing.since == 0) return "";
  return ", since " + figures::duration(static_cast<double>(now - doing.since) / kSecond);
}

std::string no_daemon_text(const StatusFacts& facts) {
  const auto& service = facts.service;
  if (service.writer) return "No daemon runs; process " + *service.writer + " is at work.";
  std::string text = "No daemon runs";
  if (service.last) {
    const auto& [started_at, stopped_at] = *service.last;
    text += stopped_at ? "; the last one stopped " + platform::date_and_minute(*stopped_at) + " UTC"
                       : "; the last one began " + platform::date_and_minute(started_at) +
                             " UTC and was ended from outside";
  }
  return text + (waits_for_daemon(facts) ? ". `torchwatch serve` takes up what waits." : ".");
}

/// `since`: for how long that is done already; may be empty.
std::string service_text(const StatusFacts& facts, const std::string& since) {
  const auto& service = facts.service;
  if (!service.not_asked.empty()) {
    return "The daemon cannot be asked what it does: " + service.not_asked + ".";
  }
  if (!service.daemon) return no_daemon_text(facts);
  return fmt::format("The daemon, process {}, {}{}.", *service.daemon,
                     doing_text(service.report.doing), since);
}

void print_problems(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  const auto found = problems_of_service(facts);
  if (found.empty()) return;
  out << "\nProblems (" << found.size() << ")\n";
  for (const auto& problem : found) {
    const auto item = problem.item.empty() ? "" : " " + problem.item;
    const auto since =
        problem.since == 0 ? "" : ", since " + platform::date_and_minute(problem.since);
    out << wrapped("  " + problem.source + item + since + ": " + text_of(problem, true),
                   screen.columns, 4);
  }
}

void print_cluster(std::ostream& out, const StatusFacts& facts) {
  if (!facts.cluster) return;
  out << "\nCluster\n";
  if (!facts.cluster->problem.empty())
    out << "  unknown: " << facts.cluster->problem << '\n';
  else if (facts.cluster->jobs.empty())
    out << "  no node is held\n";
  for (const auto& job : facts.cluster->jobs) {
    const auto where = job.node.empty() ? "waits: " + job.reason : "on " + job.node;
    out << "  " << job.what << ": job " << job.id << " " << job.state << ", " << where << '\n';
  }
}

void print_newest(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (!facts.newest) {
    out << "\nNo nightly has been compared yet: `torchwatch nightly` compares what is due.\n";
    return;
  }
  const auto print_one = [&](const char* what, const ComparisonFacts& comparison) {
    out << wrapped(
        fmt::format("{} ({}): {}.", what, age_text(comparison.comparison.created_at, facts.now),
                    sentence_on(comparison)),
        screen.columns, 2);
  };
  out << '\n';
  print_one("Newest nightly", *facts.newest);
  if (facts.judged) print_one("Newest with a verdict", *facts.judged);
}

void print_left_out(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (facts.left_out.empty()) return;
  out << "\nNightlies left out (" << facts.left_out.size() << ")\n";
  for (const auto& build : facts.left_out) {
    out << wrapped("  " + build.name + ": " + report::reason_of(build), screen.columns, 4);
  }
}

std::string cause_text(const storage::IncidentRow& incident, const std::string& culprit,
                       const StatusFacts& facts) {
  if (!culprit.empty()) return "culprit " + culprit;
  const bool is_searched =
      std::ranges::find(facts.searches, std::optional(incident.id),
                        &storage::BisectionRow::incident) != facts.searches.end();
  return is_searched ? "its culprit is being searched" : "no culprit named";
}

void print_open(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (facts.open.empty()) return;
  out << "\nOpen incidents (" << facts.open.size() << ")\n";
  for (const auto& [row, culprit, confidence, issue] : facts.open) {
    out << wrapped(fmt::format("  incident {}, {}: {}", row.id, report::state_word(row), row.title),
                   screen.columns, 4);
    auto cause = cause_text(row, culprit, facts);
    if (confidence > 0) cause += " (" + figures::confidence(confidence) + " sure)";
    out << wrapped(
        fmt::format("    {}, {}; since {}", cause, issue, platform::date_and_minute(row.opened_at)),
        screen.columns, 4);
  }
}

void print_searches(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (facts.searches.empty()) return;
  const auto* const heading =
      somebody_works(facts.service) ? "Searches under way" : "Searches that wait";
  out << '\n' << heading << " (" << facts.searches.size() << ")\n";
  for (const auto& row : facts.searches) {
    const auto what = row.incident ? fmt::format("incident {}", *row.incident) : "on request";
    out << wrapped(
        fmt::format("  bisection {}, {}, {}..{}, begun {}", row.id, what, short_sha(row.good),
                    short_sha(row.bad), age_text(row.created_at, facts.now)),
        screen.columns, 4);
  }
}

void print_waiting(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  const auto items = items_put_off(facts);
  if (items.empty()) return;
  out << "\nPut off (" << items.size() << ")\n";
  for (const auto& row : items) {
    out << wrapped(fmt::format("  {} {}, since {}: {}", to_string(row.key.kind), row.key.item,
                               platform::date_and_minute(row.since), report::setback_text(row)),
                   screen.columns, 4);
  }
}

void print_outbox(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  const auto dead = dead_messages(facts);
  const auto waiting = facts.unsent.size() - dead;
  std::string text = "Outbox: ";
  if (facts.unsent.empty()) {
    text += "every message is delivered";
  } else {
    text +=
        figures::count(waiting, "message") + " to be sent, " + std::to_string(dead) + " given up";
  }
  const auto failed = std::ranges::find_if(
      facts.unsent, [](const auto& message) { return !message.last_error.empty(); });
  if (failed != facts.unsent.end()) text += "; last error: " + failed->last_error;
  if (facts.newest_issue) text += fmt::format("; newest issue #{}", *facts.newest_issue);
  if (facts.last_delivery) {
    text += "; the last delivery was " + age_text(*facts.last_delivery, facts.now);
  }
  out << '\n' << wrapped(text + ".", screen.columns, 2);
}

void print_recent(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (facts.recent.empty()) return;
  Table table({{"id", Table::Align::right},
               {.heading = "started, UTC", .rank = 1, .fit = Table::Fit::whole},
               {.heading = "purpose", .fit = Table::Fit::whole},
               {"candidate"},
               {"baseline"},
               {.heading = "result", .fit = Table::Fit::whole},
               {"incidents", Table::Align::right, 2},
               {.heading = "remark", .fit = Table::Fit::wrap}});
  for (const auto& [row, candidate, baseline, result, incidents] : facts.recent) {
    table.add({std::to_string(row.id), platform::date_and_minute(row.created_at),
               to_string(row.purpose), candidate, baseline, result, std::to_string(incidents),
               report::remark_on(row)});
  }
  out << '\n';
  table.print(out, screen);
}

/// Metrics without a false alarm are one line: each alone has too few series for a bound.
void print_self_tests(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (facts.self_tests.empty()) return;
  const auto all = storage::sum_of(facts.self_tests);
  const auto wrong = all.regressed + all.improved;
  auto text = fmt::format(
      "Builds compared with themselves: {} series judged, {} called changed; false-alarm rate, "
      "95 % upper bound: {}.",
      figures::grouped(all.series), wrong, report::false_alarms_bound_text(all));
  std::vector<std::string> metrics;
  for (const auto& tally : facts.self_tests) {
    const auto of_metric = tally.regressed + tally.improved;
    if (of_metric > 0) metrics.push_back(fmt::format("{} {}", of_metric, to_string(tally.metric)));
  }
  if (!metrics.empty()) text += fmt::format(" Called changed: {}.", fmt::join(metrics, ", "));
  out << '\n' << wrapped(text, screen.columns);
}

void print_drills(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (facts.drills.planted == 0) return;
  out << '\n' << wrapped(report::drills_text(facts.drills), screen.columns);
}

void print_culprits(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  if (facts.culprits.named == 0) return;
  out << '\n' << wrapped(report::culprit_tally_text(facts.culprits), screen.columns);
}

}  // namespace

bool is_impaired(const StatusFacts& facts) {
  return !facts.service.report.problems.empty() || waits_for_daemon(facts) ||
         dead_messages(facts) > 0;
}

std::string brief(const StatusFacts& facts) {
  return sentence_of(facts, problems(facts)) + " " + service_text(facts, "");
}

void print(std::ostream& out, const StatusFacts& facts, const Screen& screen) {
  print_sentence(out, facts, screen);
  const auto since = since_text(facts.service.report.doing, facts.now);
  out << wrapped(service_text(facts, since), screen.columns, 2);
  print_problems(out, facts, screen);
  print_cluster(out, facts);
  print_newest(out, facts, screen);
  print_left_out(out, facts, screen);
  print_open(out, facts, screen);
  print_searches(out, facts, screen);
  print_waiting(out, facts, screen);
  print_outbox(out, facts, screen);
  print_recent(out, facts, screen);
  print_self_tests(out, facts, screen);
  print_drills(out, facts, screen);
  print_culprits(out, facts, screen);
}

}  // namespace torchwatch::terminal
