#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// GitHub refuses a text of more than 65,536 characters; bytes are never fewer.
inline constexpr std::size_t kHardStopBytes = 60'000;

/// The effects, largest first.
std::vector<EffectFacts> by_size(std::vector<EffectFacts> effects);

/// Who did it, as far as that is known, what and how much, in bold: the first sentence of an issue.
/// Of several causes each has its own effect.
std::string headline(const IncidentFacts&);
/// The same of one of its causes, which is given no more than it was measured to do.
std::string headline_of(const CulpritFacts&, const IncidentFacts&);

/// What got worse, how much and how sure: the paragraph behind it.
std::string summary(const IncidentFacts&);

/// The series as a table: values of both builds, change, interval, spread, runs. The largest stand
/// in it.
std::string effects_table(const std::vector<EffectFacts>&, const std::string& left,
                          const std::string& right, double confidence);

/// The section with that table; empty of a lost benchmark.
std::string effects_section(const IncidentFacts&);

/// "cc @ada @pytorch/oncall", as a paragraph. The first few: who mentions many is taken for spam.
std::string mentions(const std::vector<std::string>& names);

/// Returns the text without what would be live in a title: it is not Markdown, but mentions and
/// references work in it, too.
std::string without_live_links(std::string text);

/// Whole lines of `text` that fit into `bytes_max`, and a note when some had to go.
std::string whole_lines(std::string text, std::size_t bytes_max);

template <typename T>
void add_once(std::vector<T>& list, const T& element) {
  if (std::ranges::find(list, element) == list.end()) list.push_back(element);
}

}  // namespace torchwatch::report
