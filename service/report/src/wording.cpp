#include "torchwatch/report/wording.hpp"

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::report {
namespace {

/// From this probability on a commit is called the culprit.
constexpr double kSure = 0.99;

template <typename Cause>
Finding finding_of_cause(const Cause& cause) {
  if (cause.commits.size() != 1) return cause.commits.empty() ? Finding::none : Finding::set;
  // 0: what was stored before confidences were.
  const bool is_sure = cause.confidence >= kSure || !(cause.confidence > 0);
  const bool is_contradicted = cause.revert == bisection::RevertOutcome::change_stays;
  const bool is_confirmed = !cause.verified.empty() && !is_contradicted;
  return is_sure && is_confirmed ? Finding::named : Finding::likely;
}

}  // namespace

Finding finding_of(const CulpritFacts& culprit) {
  return finding_of_cause(culprit);
}
Finding finding_of(const bisection::NamedCulprit& culprit) {
  return finding_of_cause(culprit);
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

std::string_view doubt_text(bisection::RevertOutcome revert) {
  if (revert != bisection::RevertOutcome::change_stays) return "";
  return "The change stays when this commit is taken out of the newest one: it did not make the "
         "change, or something else makes it now, too.";
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

}  // namespace torchwatch::report
