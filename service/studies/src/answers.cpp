#include "answers.hpp"

#include <algorithm>
#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/geometric_means.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::studies {
namespace {

using nlohmann::json;
using storage::VerdictRow;
using terminal::ran_on_both;
using terminal::Table;

std::string count_of(const std::vector<VerdictRow>& rows, std::vector<Verdict> verdicts) {
  const auto count = std::ranges::count_if(rows, [&](const VerdictRow& row) {
    return std::ranges::find(verdicts, row.verdict) != verdicts.end();
  });
  return count == 0 ? "" : std::to_string(count);
}

std::string change_of(const Times& times) {
  return times.benchmarks == 0 ? "" : figures::change(times.ratio);
}

Table table_of(const std::vector<Answer>& answers) {
  const auto number = [](const char* heading) {
    return Table::Column{heading, Table::Align::right};
  };
  Table table({{"pair"},
               {.heading = "A", .rank = 2},
               {.heading = "B", .rank = 2},
               number("time, B against A"),
               number("benchmarks"),
               number("regressed"),
               number("improved"),
               number("unchanged"),
               number("not supported"),
               number("unclear")});
  for (const auto& [pair, facts, machine, object] : answers) {
    const auto& rows = facts.verdicts;
    const auto times = times_of(rows);
    table.add({pair.settings.name, pair.settings.baseline, pair.settings.candidate,
               change_of(times), std::to_string(times.benchmarks),
               count_of(rows, {Verdict::regressed}), count_of(rows, {Verdict::improved}),
               count_of(rows, {Verdict::unchanged}), count_of(rows, {Verdict::unsupported}),
               count_of(rows, {Verdict::inconclusive, Verdict::failed})});
  }
  return table;
}

Table series_of(const Answer& answer) {
  Table table({{"workload"},
               {"configuration"},
               {"metric"},
               {"A", Table::Align::right},
               {"B", Table::Align::right},
               {"B against A", Table::Align::right},
               {"verdict"},
               {.heading = "reason", .fit = Table::Fit::wrap}});
  for (const auto& row : answer.facts.verdicts) {
    const auto value = [&row](double of) {
      return of > 0 ? figures::value(row.series.metric, of) : std::string();
    };
    const bool has_reason = row.verdict == Verdict::unsupported || row.verdict == Verdict::failed;
    const auto change = ran_on_both(row)
                            ? figures::change(row.ratio) + " " +
                                  figures::interval(row.interval_low, row.interval_high)
                            : std::string();
    table.add({row.series.benchmark.workload, report::configuration_text(row.series.benchmark),
               to_string(row.series.metric), value(row.baseline_value), value(row.candidate_value),
               change, to_string(row.verdict), has_reason ? row.reason : ""});
  }
  return table;
}

/// The build and the machine, which all pairs share; a pair that was measured elsewhere says so.
void print_origin(std::ostream& out, const std::vector<Answer>& answers,
                  const std::string& command) {
  const auto& first = answers.front();
  const auto& build = first.facts.candidate;
  out << "- build: " << build.name;
  if (!build.version.empty() && build.version != build.name) out << ", version " << build.version;
  if (!build.trunk_commit.empty()) out << ", commit " << build.trunk_commit;
  out << "\n- machine: " << (first.machine.empty() ? "unknown" : first.machine)
      << "\n- measured: " << platform::date_and_minute(first.facts.comparison.created_at)
      << " UTC\n- command: `" << command << "`\n\n";
}

}  // namespace

Times times_of(const std::vector<VerdictRow>& verdicts) {
  const auto means = terminal::geometric_means(verdicts);
  const auto time = std::ranges::find(means, Metric::time, &terminal::GeometricMean::metric);
  return time == means.end() ? Times{} : Times{time->ratio, time->benchmarks};
}

void print_table(std::ostream& out, const StudyFile& study, const std::vector<Answer>& answers,
                 const terminal::Screen& screen) {
  out << '\n' << study.title << '\n';
  table_of(answers).print(out, screen);
  out << terminal::wrapped(
      "The change in time is the geometric mean over the benchmarks that ran under both settings; "
      "the other columns count series.",
      screen.columns);
}

void print_page(std::ostream& out, const StudyFile& study, const std::vector<Answer>& answers,
                const std::string& command) {
  out << "# " << study.title << "\n\n";
  if (!study.about.empty()) out << study.about << "\n\n";
  print_origin(out, answers, command);
  out << table_of(answers).markdown()
      << "\nThe change in time is the geometric mean over the benchmarks that ran under both "
         "settings.\n";
  for (const auto& answer : answers) {
    const auto& settings = answer.pair.settings;
    out << "\n## " << settings.name << "\n\nA: `" << settings.baseline << "`, B: `"
        << settings.candidate << "`";
    const bool is_elsewhere = answer.machine != answers.front().machine && !answer.machine.empty();
    if (is_elsewhere) out << ", on " << answer.machine;
    out << ".\n\n" << series_of(answer).markdown();
  }
}

json to_json(const StudyFile& study, const std::vector<Answer>& answers) {
  json object{{"schema", 1},
              {"title", study.title},
              {"about", report::text_or_null(study.about)},
              {"pairs", json::array()}};
  for (const auto& answer : answers) {
    const auto times = times_of(answer.facts.verdicts);
    const auto& settings = answer.pair.settings;
    object["pairs"].push_back(
        {{"name", settings.name},
         {"between", settings.baseline},
         {"and", settings.candidate},
         {"time_ratio", times.benchmarks == 0 ? json(nullptr) : json(times.ratio)},
         {"benchmarks", times.benchmarks},
         {"machine", report::text_or_null(answer.machine)},
         {"comparison", answer.json}});
  }
  return object;
}

}  // namespace torchwatch::studies
