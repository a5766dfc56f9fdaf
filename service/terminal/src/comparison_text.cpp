#include "torchwatch/terminal/comparison_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "torchwatch/documents/study.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/geometric_means.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

using storage::ComparisonState;
using storage::VerdictRow;
using Rows = std::vector<VerdictRow>;

constexpr std::size_t kReasonsShown = 20;
constexpr std::size_t kNewShown = 10;
constexpr std::size_t kMovedShown = 10;
constexpr std::size_t kShortWord = 9;  // "cpu-train"

report::SortedVerdicts sort(const ComparisonFacts& facts) {
  std::vector<storage::IncidentRow> incidents;
  for (const auto& incident : facts.incidents) incidents.push_back(incident.row);
  return report::sorted(facts.verdicts, incidents);
}

std::string against(const ComparisonFacts& facts) {
  if (!facts.comparison.baseline) return facts.candidate.name;
  if (facts.study) return facts.candidate.name + ", " + comparison::in_words(*facts.study);
  return facts.candidate.name + " against " + facts.baseline.name;
}

std::vector<std::string> culprits_of(const ComparisonFacts& facts) {
  std::vector<std::string> culprits;
  for (const auto& incident : facts.incidents) {
    const auto& culprit = incident.culprit;
    const bool is_known = std::ranges::find(culprits, culprit) != culprits.end();
    if (!culprit.empty() && !is_known) culprits.push_back(culprit);
  }
  return culprits;
}

/// What stands where no culprit is known: after judging, the culprits are searched.
const char* without_culprit(const ComparisonFacts& facts) {
  const bool is_searched = facts.comparison.state == ComparisonState::judged;
  return is_searched ? "the culprit is being searched" : "no culprit named";
}

std::string culprits_text(const ComparisonFacts& facts) {
  const auto culprits = culprits_of(facts);
  if (culprits.empty() && facts.incidents.empty()) return "";
  if (culprits.empty()) return std::string(", ") + without_culprit(facts);
  return (culprits.size() == 1 ? ", culprit " : ", culprits ") +
         fmt::format("{}", fmt::join(culprits, " and "));
}

Tone tone_of(const ComparisonFacts& facts) {
  const auto sorted = sort(facts);
  if (!sorted.regressed.empty() || !sorted.lost.empty()) return Tone::bad;
  const bool has_ended_well = facts.comparison.state == ComparisonState::reported;
  if (!has_ended_well) return Tone::doubtful;
  return sorted.unchanged.empty() && sorted.improved.empty() ? Tone::doubtful : Tone::good;
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::regressed) return Tone::bad;
  return verdict == Verdict::improved ? Tone::good : Tone::plain;
}

void print_heading(std::ostream& out, const std::string& word, std::size_t count, Tone tone,
                   const Screen& screen) {
  out << '\n' << painted(fmt::format("{} ({})", word, count), tone, screen) << '\n';
}

/// `count`: of all such series, of which `rows` may be the first.
void print_table(std::ostream& out, const std::string& heading, const Rows& rows, std::size_t count,
                 double confidence, const Screen& screen) {
  if (rows.empty()) return;
  const auto tone = tone_of(rows.front().verdict);
  print_heading(out, heading, count, tone, screen);
  using Align = Table::Align;
  Table table({{"workload"},
               {"configuration", Align::left, 0, kShortWord},
               {"metric", Align::left, 0, kShortWord},
               {"change", Align::right},
               {report::interval_heading(confidence), Align::right, 1},
               {"baseline", Align::right, 3},
               {"candidate", Align::right, 2},
               {"runs", Align::right, 4}},
              2);
  for (const auto& row : rows) {
    const auto effect = report::effect_of(row);
    const auto metric = row.series.metric;
    table.add({row.series.benchmark.workload,
               report::configuration_text(row.series.benchmark),
               to_string(metric),
               {report::change_text(effect), tone},
               report::interval_text(effect),
               figures::value(metric, effect.baseline_value),
               figures::value(metric, effect.candidate_value),
               std::to_string(row.runs)});
  }
  table.print(out, screen);
}

/// What two settings are to each other as a whole, where more than one benchmark says it.
void print_means(std::ostream& out, const Rows& rows, const Screen& screen) {
  Table table({{"metric"}, {"change", Table::Align::right}, {"benchmarks", Table::Align::right}},
              2);
  const auto means = geometric_means(rows);
  for (const auto& mean : means) {
    table.add(
        {to_string(mean.metric), figures::change(mean.ratio), std::to_string(mean.benchmarks)});
  }
  const auto is_of_several = [](const GeometricMean& mean) { return mean.benchmarks > 1; };
  if (std::ranges::none_of(means, is_of_several)) return;
  out << "\nGeometric means over the benchmarks that ran on both sides\n";
  table.print(out, screen);
}

void print_moved(std::ostream& out, const Rows& rows, double confidence, bool all,
                 const Screen& screen) {
  if (rows.empty()) return;
  const auto shown = all ? rows.size() : std::min(rows.size(), kMovedShown);
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(shown);
  print_table(out, "Moved exactly, below the threshold", Rows(rows.begin(), end), rows.size(),
              confidence, screen);
  if (shown < rows.size()) out << "  and " << rows.size() - shown << " more\n";
  out << wrapped("  " + report::moved_exactly_text(), screen.columns, 2);
}

/// Series with the same benchmark and reason share a line.
void print_reasons(std::ostream& out, const std::string& heading, const Rows& rows, Tone tone,
                   bool all, const Screen& screen) {
  if (rows.empty()) return;
  print_heading(out, heading, rows.size(), tone, screen);
  std::vector<std::pair<std::string, std::string>> lines;  // metrics by what they share
  for (const auto& row : rows) {
    const auto what = to_string(row.series.benchmark);
    const auto metric = std::string(to_string(row.series.metric));
    const auto key = what + '\n' + row.reason;
    const auto known = std::ranges::find(lines, key, &std::pair<std::string, std::string>::first);
    if (known == lines.end()) {
      lines.emplace_back(key, metric);
    } else {
      known->second += ", " + metric;
    }
  }
  const auto shown = all ? lines.size() : std::min(lines.size(), kReasonsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [key, metrics] = lines[i];
    const auto split = key.find('\n');
    const auto reason = key.substr(split + 1);
    out << wrapped(
        "  " + key.substr(0, split) + ", " + metrics + (reason.empty() ? "" : ": " + reason),
        screen.columns, 4);
  }
  if (shown < lines.size()) out << "  and " << lines.size() - shown << " more\n";
}

void print_new(std::ostream& out, const ComparisonFacts& facts, bool all, const Screen& screen) {
  const auto& added = facts.newly_measured;
  if (added.empty()) return;
  print_heading(out, "Newly measured", added.size(), Tone::plain, screen);
  const auto shown = all ? added.size() : std::min(added.size(), kNewShown);
  for (std::size_t i = 0; i < shown; ++i) out << "  " << to_string(added[i]) << '\n';
  if (shown < added.size()) out << "  and " << added.size() - shown << " more\n";
}

void print_incidents(std::ostream& out, const ComparisonFacts& facts, const Screen& screen) {
  if (facts.incidents.empty()) return;
  print_heading(out, "Incidents", facts.incidents.size(), Tone::bad, screen);
  for (const auto& [row, culprit, confidence, issue] : facts.incidents) {
    out << wrapped(fmt::format("  incident {}, {}: {}", row.id, to_string(row.kind), row.title),
                   screen.columns, 4);
    std::string cause = culprit.empty() ? without_culprit(facts) : "culprit " + culprit;
    if (confidence > 0) cause += " (" + figures::confidence(confidence) + " sure)";
    if (row.kind == IncidentKind::lost && culprit.empty()) cause.clear();
    if (!cause.empty()) out << wrapped("    " + cause, screen.columns, 4);
    out << wrapped(
        fmt::format("    {}; `torchwatch incident show {}` has the evidence", issue, row.id),
        screen.columns, 4);
  }
}

/// "32 of 36 unchanged; `torchwatch comparison show 3 --all` lists them."
std::string rest_text(const ComparisonFacts& facts, const report::SortedVerdicts& sorted,
                      bool all) {
  const auto total = facts.verdicts.size();
  auto text =
      fmt::format("{} of {} unchanged", sorted.unchanged.size(), report::series_text(total));
  if (!sorted.unsupported.empty()) {
    text += fmt::format(", {} not supported", sorted.unsupported.size());
  }
  if (all || sorted.unchanged.empty()) return text + ".";
  return text +
         fmt::format("; `torchwatch comparison show {} --all` lists them.", facts.comparison.id);
}

std::string cost_text(const ComparisonFacts& facts) {
  std::vector<std::string> parts;
  if (facts.seconds > 0) parts.push_back(figures::duration(facts.seconds));
  parts.push_back(figures::count(static_cast<std::size_t>(facts.runs), "run"));
  if (facts.builds > 0) {
    parts.push_back(figures::count(static_cast<std::size_t>(facts.builds), "commit") +
                    " built between the ends");
  }
  return fmt::format("It took {}.", fmt::join(parts, ", "));
}

/// "2026-08-17: version 2.14.0, commit 5d1c1c3f0a9e"; empty where only the name is known.
std::string build_text(const storage::BuildRow& build) {
  std::vector<std::string> details;
  if (!build.version.empty() && build.version != build.name) {
    details.push_back("version " + build.version);
  }
  if (!build.trunk_commit.empty()) details.push_back("commit " + short_sha(build.trunk_commit));
  if (details.empty()) return "";
  return fmt::format("{}: {}", build.name, fmt::join(details, ", "));
}

void print_footer(std::ostream& out, const ComparisonFacts& facts, const Screen& screen) {
  for (const auto& remark : facts.remarks) out << wrapped(remark, screen.columns);
  if (facts.runs > 0) out << wrapped(cost_text(facts), screen.columns);
  for (const auto* build : {&facts.baseline, &facts.candidate}) {
    if (facts.study && build == &facts.baseline) continue;
    const auto text = build_text(*build);
    if (!text.empty()) out << wrapped(text, screen.columns, 2);
  }
}

}  // namespace

std::string sentence_on(const ComparisonFacts& facts) {
  const auto& row = facts.comparison;
  if (!facts.verdicts.empty()) {
    return against(facts) + ": " + report::outcome_text(sort(facts)) + culprits_text(facts);
  }
  if (row.state == ComparisonState::reported || row.state == ComparisonState::accepted) {
    return against(facts) + ": " + (row.reason.empty() ? "nothing was compared" : row.reason);
  }
  if (is_end(row.state)) {
    return fmt::format("{}: {}{}{}", against(facts), to_string(row.state),
                       row.reason.empty() ? "" : ", ", row.reason);
  }
  return fmt::format("{}: no verdict yet, {}", against(facts), facts.stage);
}

void print(std::ostream& out, const ComparisonFacts& facts, bool all, const Screen& screen) {
  std::string sentence;
  for (auto rest = wrapped(sentence_on(facts) + ".", screen.columns, 2); !rest.empty();) {
    const auto end = rest.find('\n');
    sentence += painted(rest.substr(0, end), tone_of(facts), screen) + '\n';
    rest.erase(0, end + 1);
  }
  out << sentence;
  if (facts.verdicts.empty()) return;
  const auto sorted = sort(facts);
  print_table(out, "Regressed", sorted.regressed, sorted.regressed.size(), facts.confidence,
              screen);
  print_table(out, "Improved", sorted.improved, sorted.improved.size(), facts.confidence, screen);
  print_moved(out, sorted.moved_exactly, facts.confidence, all, screen);
  print_reasons(out, "Lost", sorted.lost, Tone::bad, all, screen);
  print_new(out, facts, all, screen);
  print_reasons(out, "Failed", sorted.failed, Tone::doubtful, all, screen);
  print_reasons(out, "Could not be decided", sorted.undecided, Tone::doubtful, all, screen);
  // What a setting cannot be applied to is an answer of a study.
  if (facts.study) {
    print_means(out, facts.verdicts, screen);
    print_reasons(out, "Not supported", sorted.unsupported, Tone::plain, all, screen);
  }
  if (all && !sorted.unchanged.empty()) {
    print_table(out, "Unchanged", sorted.unchanged, sorted.unchanged.size(), facts.confidence,
                screen);
    out << wrapped("  " + report::unchanged_text(facts.confidence), screen.columns, 2);
  }
  print_incidents(out, facts, screen);
  out << '\n' << wrapped(rest_text(facts, sorted, all), screen.columns);
  print_footer(out, facts, screen);
}

}  // namespace torchwatch::terminal
