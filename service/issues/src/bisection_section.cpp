#include "bisection_section.hpp"

#include <algorithm>

#include "causes.hpp"
#include "sentences.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/wording.hpp"

namespace torchwatch::report {
namespace {

constexpr std::size_t kPathsMax = 25;
constexpr std::size_t kPathsOfCandidateMax = 5;
constexpr std::size_t kCandidatesMax = 20;
constexpr std::size_t kSkippedMax = 20;
constexpr std::size_t kSubjectMax = 160;

std::string paths(const CommitFacts& commit, std::size_t paths_max) {
  std::vector<std::string> items;
  for (const auto& path : commit.changed_paths) items.push_back(code(path, 160));
  return bullets(items, paths_max, "files");
}

/// The same in one line, for a list of commits.
std::string short_paths(const CommitFacts& commit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(commit.changed_paths.size(), kPathsOfCandidateMax); ++i) {
    text += (i == 0 ? "" : ", ") + code(commit.changed_paths[i], 160);
  }
  if (commit.changed_paths.size() > kPathsOfCandidateMax) {
    text += " and " + std::to_string(commit.changed_paths.size() - kPathsOfCandidateMax) + " more";
  }
  return text;
}

std::string commit_line(const CommitFacts& commit, const std::string& address) {
  return commit_link(address, commit.sha) + " " + code(commit.subject, kSubjectMax) +
         " (author date " + code(commit.author_date, 40) + ")";
}

std::string evidence(const CulpritFacts& culprit, const std::string& left,
                     const std::string& right) {
  if (culprit.effects.empty()) return "";
  return "\nThe " + right + ", compared with the " + left + ":\n\n" +
         effects_table(culprit.effects, left, right, kBisectionIntervalConfidence);
}

/// " (99.7 % sure)", or nothing where no confidence is stated.
std::string sure(double confidence, const std::string& of_what = "") {
  if (!(confidence > 0)) return "";
  return " (" + figures::confidence(confidence) + " sure" + of_what + ")";
}

std::string commit_part(const CulpritFacts& facts, const std::string& address) {
  const CommitFacts& culprit = facts.commits.front();
  const auto sha = address.empty() ? code(culprit.sha) : commit_link(address, culprit.sha);
  const auto pull = pull_link(address, pull_of(culprit.subject));
  std::string text = "- commit: " + sha + " " + code(culprit.subject, kSubjectMax) +
                     (pull.empty() ? "" : ", " + pull) + "\n";
  if (!culprit.author.empty()) {
    const auto login = culprit.login.empty() ? "" : " (" + code(culprit.login, 40) + ")";
    text +=
        "- author: " + code(culprit.author) + login + ", " + code(culprit.author_date, 40) + "\n";
  }
  text += "- verified: " +
          (facts.verified.empty() ? "not beyond the bisection itself" : code(facts.verified, 300)) +
          "\n";
  const auto doubt = doubt_text(facts.revert);
  if (!doubt.empty()) text += "\n" + std::string(doubt) + "\n";
  text += evidence(facts, "commit before it that builds", "commit");
  if (!culprit.changed_paths.empty()) {
    text += "\nFiles it changes:\n\n" + paths(culprit, kPathsMax);
  }
  return text;
}

/// Commits of which one is a culprit.
std::string one_of(const std::vector<CommitFacts>& commits, double confidence,
                   const std::string& address) {
  std::vector<std::string> items;
  for (const auto& candidate : commits) {
    const std::string files = short_paths(candidate);
    items.push_back(commit_line(candidate, address) + (files.empty() ? "" : ": " + files));
  }
  std::string text = bullets(items, kCandidatesMax, "commits");
  if (confidence > 0) {
    text += "\nThe bisection is " + figures::confidence(confidence) +
            " sure that it is one of these.\n";
  }
  return text;
}

std::string undecided_part(const CulpritFacts& facts, const std::string& address) {
  std::string text = one_of(facts.commits, facts.confidence, address);
  if (!facts.verified.empty()) text += "\nVerified: " + code(facts.verified, 300) + "\n";
  return text + evidence(facts, "commit before", "last of them");
}

std::string culprit_part(const CulpritFacts& culprit, const std::string& number,
                         const std::string& address) {
  const auto heading = "### " + std::string(heading_of(finding_of(culprit))) + number + "\n\n";
  return heading + (culprit.commits.size() == 1 ? commit_part(culprit, address)
                                                : undecided_part(culprit, address));
}

std::string culprits_part(const BisectionFacts& bisection, const std::string& address) {
  std::string text;
  for (std::size_t i = 0; i < bisection.culprits.size(); ++i) {
    const std::string number = bisection.culprits.size() == 1
                                   ? ""
                                   : " (" + std::to_string(i + 1) + " of " +
                                         std::to_string(bisection.culprits.size()) + ")";
    text += (i == 0 ? "" : "\n") + culprit_part(bisection.culprits[i], number, address);
  }
  return text;
}

std::string suspects_part(const BisectionFacts& bisection, const std::string& address) {
  const auto heading = "### " + std::string(heading_of(Finding::set)) + "\n\n";
  std::string text =
      bisection.culprits.empty() ? heading : "\n### Another cause, not decided which\n\n";
  return text + one_of(bisection.suspects, bisection.suspects_confidence, address);
}

std::string nobody_part(const BisectionFacts& bisection) {
  return "### " + std::string(heading_of(finding_of(bisection))) +
         "\n\nThe bisection blames no commit: " +
         code(bisection.reason.empty() ? "no reason was given" : bisection.reason, 300) + "\n";
}

std::string count(int number, std::string_view noun) {
  return figures::count(static_cast<std::size_t>(number), noun);
}

std::string effort_part(const BisectionFacts& bisection, const std::string& address) {
  std::string text = "\nBisected " + range_link(address, bisection.good, bisection.bad) + ": ";
  if (bisection.commits > 0) text += count(bisection.commits, "commit");
  if (bisection.folded > 0) {
    text += ", of which " + std::to_string(bisection.folded) + " cannot change the library";
  }
  text += (bisection.commits > 0 ? "; " : "") +
          builds_text(bisection.builds, bisection.made_elsewhere) + ", " +
          count(bisection.runs, "run") + ".\n";
  if (bisection.skipped.empty()) return text;
  std::vector<std::string> items;
  for (const auto& skipped : bisection.skipped) {
    items.push_back(commit_link(address, skipped.sha) + ": " + code(skipped.reason, 200));
  }
  return text + "\nNot measured:\n\n" + bullets(items, kSkippedMax, "commits");
}

/// Every cause is one commit.
bool decided(const BisectionFacts& bisection) {
  return bisection.suspects.empty() &&
         std::ranges::all_of(bisection.culprits,
                             [](const auto& culprit) { return culprit.commits.size() == 1; });
}

std::string culprit_words(const CulpritFacts& culprit, const std::string& address) {
  if (culprit.commits.size() == 1) {
    const auto& commit = culprit.commits.front();
    const bool is_doubtful = !doubt_text(culprit.revert).empty();
    return "commit " + commit_link(address, commit.sha) + " " + code(commit.subject, kSubjectMax) +
           (is_doubtful ? ", although the change stays when it is taken out"
                        : sure(culprit.confidence));
  }
  return one_of_text(culprit.commits.size()) + " that could not be distinguished" +
         sure(culprit.confidence, " that it is one of them");
}

}  // namespace

std::string bisection_sentence(const IncidentFacts& facts) {
  const auto& bisection = *facts.bisection;
  const auto& address = facts.commits_address;
  std::string causes;
  for (const auto& culprit : bisection.culprits) {
    causes += (causes.empty() ? "" : ", and with ") + culprit_words(culprit, address);
  }
  if (!bisection.suspects.empty()) {
    causes += (causes.empty() ? "" : ", and with ") +
              culprit_words({.commits = bisection.suspects,
                             .confidence = bisection.suspects_confidence,
                             .effects = {},
                             .verified = {},
                             .revert = {}},
                            address);
  }
  if (causes.empty()) {
    return "No commit is blamed: " +
           code(bisection.reason.empty() ? "no reason was given" : bisection.reason, 300) + ".";
  }
  const bool is_of_part = cause_count(bisection) == 1 && !bisection.culprits.empty() &&
                          is_part(bisection.culprits.front(), facts);
  return (is_of_part ? "A part of it came with " : "It came with ") + causes +
         (decided(bisection) ? "." : "; they are listed below.");
}

std::string bisection_section(const BisectionFacts& bisection, const std::string& address) {
  if (bisection.culprits.empty() && bisection.suspects.empty()) {
    return nobody_part(bisection) + effort_part(bisection, address);
  }
  std::string text = culprits_part(bisection, address);
  if (!bisection.suspects.empty()) text += suspects_part(bisection, address);
  if (!bisection.reason.empty()) {
    text += "\nWhy no further: " + code(bisection.reason, 300) + "\n";
  }
  return text + effort_part(bisection, address);
}

}  // namespace torchwatch::report
