#include "torchwatch/report/wording.hpp"

#include <algorithm>

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::report {
namespace {

/// From this probability on a commit is called the culprit.
constexpr double kSure = 0.99;

Finding finding_of(std::size_t commits, double confidence, bool is_verified) {
  if (commits != 1) return commits == 0 ? Finding::none : Finding::set;
  // 0: what was stored before confidences were.
  const bool is_sure = confidence >= kSure || !(confidence > 0);
  return is_sure && is_verified ? Finding::named : Finding::likely;
}

}  // namespace

Finding finding_of(const CulpritFacts& culprit) {
  return finding_of(culprit.commits.size(), culprit.confidence, !culprit.verified.empty());
}

Finding finding_of(const bisection::NamedCulprit& culprit) {
  return finding_of(culprit.commits.size(), culprit.confidence, !culprit.verified.empty());
}

Finding finding_of(const BisectionFacts& search) {
  if (const auto* culprit = bisection::leading(search.culprits)) return finding_of(*culprit);
  if (!search.suspects.empty()) return Finding::set;
  return search.did_not_reproduce ? Finding::not_reproduced : Finding::none;
}

std::string_view heading_of(Finding finding) {
  switch (finding) {
    case Finding::named:
      return "Culprit";
    case Finding::likely:
      return "Most likely culprit";
    case Finding::set:
      return "Could not decide between these";
    case Finding::none:
      return "No culprit";
    case Finding::not_reproduced:
      return "Did not reproduce";
  }
  return "";
}

std::string one_of_text(std::size_t commits) {
  return "one of " + figures::count(commits, "commit");
}

std::string claim_text(Finding finding, const std::string& who, const std::string& what) {
  switch (finding) {
    case Finding::named:
      return who + " made " + what;
    case Finding::likely:
      return who + " most likely made " + what;
    case Finding::set:
      return who + " made " + what + "; they could not be distinguished";
    case Finding::none:
      return "Something made " + what + ", but no commit between the builds explains it";
    case Finding::not_reproduced:
      return "The nightly made " + what + ", but builds made here did not show it";
  }
  return "";
}

std::string pull_of(std::string_view subject) {
  constexpr std::size_t kDigitsMax = 9;
  const auto start = subject.rfind("(#");
  if (start == std::string_view::npos || !subject.ends_with(')')) return "";
  const auto digits = subject.substr(start + 2, subject.size() - start - 3);
  const bool is_number =
      !digits.empty() && digits.size() <= kDigitsMax && digits.front() != '0' &&
      std::ranges::all_of(digits, [](char byte) { return byte >= '0' && byte <= '9'; });
  return is_number ? std::string(digits) : "";
}

}  // namespace torchwatch::report
