#include "figures.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "table.hpp"
#include "torchwatch/report/issue.hpp"

namespace torchwatch::cli {

using nlohmann::json;

std::string decimal(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

namespace {

std::string signed_percent(double ratio) {
  return decimal("%+.1f", (ratio - 1) * 100);
}

bool has_interval(const storage::VerdictRow& row) {
  return row.interval_low > 0 && row.interval_high > 0;
}

int rank(const storage::VerdictRow& row) {
  switch (row.verdict) {
    case Verdict::regressed:
      return 0;
    case Verdict::failed:
      return 1;
    case Verdict::inconclusive:
      return 2;
    case Verdict::improved:
      return 3;
    case Verdict::unchanged:
      return 4;
    case Verdict::unsupported:
      return 5;
  }
  return 6;
}

std::string change(const storage::VerdictRow& row) {
  if (row.ratio > 0) return percent(row.ratio);
  const double difference = row.candidate_value - row.baseline_value;
  if (difference == 0) return "";
  return (difference > 0 ? "+" : "-") +
         report::human_value(row.target.metric, std::abs(difference));
}

}  // namespace

std::string percent(double ratio) {
  return ratio > 0 ? signed_percent(ratio) + " %" : "";
}

std::string percent_interval(double low, double high) {
  if (low <= 0 || high <= 0) return "";
  return "[" + signed_percent(low) + ", " + signed_percent(high) + "]";
}

json to_json(const storage::VerdictRow& row) {
  return json{
      {"workload", row.target.cell.workload},
      {"configuration", to_string(row.target.cell.configuration)},
      {"variant", to_string(row.target.cell.variant)},
      {"metric", to_string(row.target.metric)},
      {"verdict", to_string(row.verdict)},
      {"ratio", row.ratio > 0 ? json(row.ratio) : json(nullptr)},
      {"interval", has_interval(row) ? json{row.interval_low, row.interval_high} : json(nullptr)},
      {"baseline_value", row.baseline_value},
      {"candidate_value", row.candidate_value},
      {"unit", unit_of(row.target.metric)},
      {"runs", row.runs},
      {"reason", row.reason}};
}

std::string configuration_text(const Cell& cell) {
  const auto text = to_string(cell.configuration);
  return cell.variant == Variant{} ? text : text + " " + to_string(cell.variant);
}

void print_verdicts(std::ostream& out, std::vector<storage::VerdictRow> rows) {
  std::ranges::stable_sort(rows, {}, rank);
  using Align = Table::Align;
  Table table({{"workload"},
               {"configuration"},
               {"metric"},
               {"baseline", Align::right},
               {"candidate", Align::right},
               {"change", Align::right},
               {"99 % interval, %", Align::right},
               {"runs", Align::right},
               {"verdict"}});
  for (const auto& row : rows) {
    const auto& cell = row.target.cell;
    const bool ran = row.verdict != Verdict::failed && row.verdict != Verdict::unsupported;
    const auto value = [&](double number) {
      return ran ? report::human_value(row.target.metric, number) : std::string("-");
    };
    table.add({cell.workload, configuration_text(cell), std::string(to_string(row.target.metric)),
               value(row.baseline_value), value(row.candidate_value), change(row),
               percent_interval(row.interval_low, row.interval_high), std::to_string(row.runs),
               std::string(to_string(row.verdict))});
  }
  table.print(out);
}

}  // namespace torchwatch::cli
