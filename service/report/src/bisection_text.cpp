#include "torchwatch/report/bisection_text.hpp"

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::report {
namespace {

std::string revert_figure(const VerificationFacts& facts) {
  return facts.revert_change.empty() ? "" : " (with the commit: " + facts.revert_change + ")";
}

std::string revert_text(const VerificationFacts& facts) {
  switch (facts.revert) {
    case RevertOutcome::not_tried:
      return "";
    case RevertOutcome::impossible:
      return "; reverting it on the newest commit was not possible (" + facts.revert_problem + ")";
    case RevertOutcome::change_gone:
      return "; reverting it on the newest commit undoes the change" + revert_figure(facts);
    case RevertOutcome::change_stays:
      return "; reverting it on the newest commit did not clearly undo the change" +
             revert_figure(facts);
  }
  return "";
}

}  // namespace

std::string verification_text(const VerificationFacts& facts) {
  return "against " + short_sha(facts.parent) + ", the commit before it that builds, " +
         figures::count(static_cast<std::size_t>(facts.pairs), "fresh pair") + revert_text(facts);
}

std::string unbuildable_end_text(const std::string& end, const std::string& sha,
                                 const std::string& reason) {
  return "the " + end + " end, commit " + sha + ", cannot be built: " + reason;
}

std::string failing_recipe_text(int commits, const std::string& last_reason) {
  return "the build recipe failed for " + std::to_string(commits) +
         " commits in a row, last with: " + last_reason;
}

std::string builds_text(int builds, int made_elsewhere) {
  auto text = figures::count(static_cast<std::size_t>(builds), "build") + " between the ends";
  if (made_elsewhere > 0)
    text += " (" + std::to_string(made_elsewhere) + " of them made elsewhere)";
  return text;
}

std::string nothing_worse_text() {
  return "no series of the suite got worse between the ends";
}

}  // namespace torchwatch::report
