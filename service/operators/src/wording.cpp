#include <algorithm>
#include <cmath>
#include <functional>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/operators/attribution.hpp"

namespace torchwatch::operators {
namespace {

using nlohmann::json;

/// Names that a sentence lists; the others are counted.
constexpr std::size_t kNamed = 2;

/// A small tensor takes as much: less says nothing to a reader.
constexpr std::int64_t kAllocatedLeast = 64 << 10;

std::string percent_more(const Change& change) {
  const auto before = static_cast<double>(change.before.self_ns);
  if (change.before.calls == 0) return "is called anew";
  if (before <= 0) return "takes more";
  return "takes " + figures::change(1 + change.difference_ns / before);
}

/// "aten::gelu takes +38.0 %, +420 µs [+400 µs, +451 µs]".
std::string time_words(const Change& change) {
  return change.name + " " + percent_more(change) + ", " +
         figures::difference(Metric::time, change.difference_ns) + " [" +
         figures::difference(Metric::time, change.low_ns) + ", " +
         figures::difference(Metric::time, change.high_ns) + "]";
}

/// The first of them in words, the number of the others.
std::string listed(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kNamed); ++i) {
    text += (i == 0 ? "" : "; ") + all[i];
  }
  if (all.size() > kNamed) text += "; and " + figures::count(all.size() - kNamed, "other");
  return text;
}

std::string of_iteration(const Attribution& found) {
  return "of an iteration of " + figures::value(Metric::time, found.iteration_ns);
}

std::string time_text(const Attribution& found) {
  std::vector<std::string> more;
  std::vector<std::string> less;
  bool is_known = false;
  for (const auto& change : found.changes) {
    is_known = is_known || std::isfinite(change.high_ns);
    if (takes_more(change, found.iteration_ns)) more.push_back(time_words(change));
    if (takes_less(change, found.iteration_ns)) less.push_back(time_words(change));
  }
  if (!is_known) return "";
  if (more.empty() && less.empty()) {
    return "No operator differs certainly by 1 % " + of_iteration(found) + ".";
  }
  if (more.empty()) return "Less time: " + listed(less) + ", " + of_iteration(found) + ".";
  const auto rest = less.empty() ? ". No other operator differs certainly by 1 % of it."
                                 : ". Less time: " + listed(less) + ".";
  return listed(more) + ", " + of_iteration(found) + rest;
}

/// What grew most among the bytes of an iteration; empty where nothing did.
std::string bytes_text(const Attribution& found, std::int64_t OperatorFigures::* member,
                       std::int64_t least, const std::string& verb, Metric unit) {
  std::vector<std::pair<std::int64_t, std::string>> grown;
  for (const auto& change : found.changes) {
    const auto growth = change.after.*member - change.before.*member;
    if (growth >= least) grown.emplace_back(growth, change.name);
  }
  std::ranges::sort(grown, std::ranges::greater{});
  std::vector<std::string> words;
  for (const auto& [growth, name] : grown) {
    words.push_back(name + " " + verb + " " +
                    figures::difference(unit, static_cast<double>(growth)));
  }
  if (words.empty()) return "";
  return listed(words) + (unit == Metric::cpu_peak ? " an iteration." : ".");
}

/// What kept bytes grow by, and what is allocated anew where nothing is kept.
std::string memory_text(const Attribution& found) {
  const auto kept =
      bytes_text(found, &OperatorFigures::kept_bytes, 1, "keeps", Metric::leak_growth);
  if (!kept.empty()) return kept;
  return bytes_text(found, &OperatorFigures::allocated_bytes, kAllocatedLeast, "allocates",
                    Metric::cpu_peak);
}

json number_or_null(double number) {
  return std::isfinite(number) ? json(number) : json();
}

json figures_json(const OperatorFigures& figures) {
  return {{"calls", figures.calls},
          {"self_ns", figures.self_ns},
          {"allocated_bytes", figures.allocated_bytes},
          {"kept_bytes", figures.kept_bytes}};
}

}  // namespace

std::string text_of(const Attribution& found) {
  const auto time = time_text(found);
  const auto memory = memory_text(found);
  if (time.empty() && memory.empty()) {
    return "No operator keeps more, or allocates " + figures::bytes(kAllocatedLeast) +
           " more an iteration.";
  }
  return time + (time.empty() || memory.empty() ? "" : " ") + memory;
}

std::string text_with_benchmark(const Attribution& found) {
  return to_string(found.benchmark) + ": " + text_of(found);
}

json json_of(const Attribution& found) {
  json list = json::array();
  for (const auto& change : found.changes) {
    list.push_back({{"name", change.name},
                    {"before", figures_json(change.before)},
                    {"after", figures_json(change.after)},
                    {"difference_ns", change.difference_ns},
                    {"low_ns", number_or_null(change.low_ns)},
                    {"high_ns", number_or_null(change.high_ns)}});
  }
  return {{"benchmark", to_string(found.benchmark)},
          {"pairs", found.pairs},
          {"confidence", kConfidence},
          {"iteration_ns", found.iteration_ns},
          {"watched_ns", found.watched_ns},
          {"operators", list}};
}

}  // namespace torchwatch::operators
