#include "search_section.hpp"

#include <algorithm>

#include "figures.hpp"
#include "markdown.hpp"
#include "sentences.hpp"

namespace torchwatch::report {
namespace {

constexpr std::size_t kPathsMax = 25;
constexpr std::size_t kPathsOfCandidateMax = 5;
constexpr std::size_t kCandidatesMax = 20;
constexpr std::size_t kSkippedMax = 20;
constexpr std::size_t kSubjectMax = 160;

std::string short_sha(const std::string& sha) {
  return code(sha.substr(0, 12), 12);
}

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

std::string commit_line(const CommitFacts& commit) {
  return short_sha(commit.sha) + " " + code(commit.subject, kSubjectMax) + " (author date " +
         code(commit.author_date, 40) + ")";
}

std::string evidence(const CulpritFacts& culprit, const std::string& left, const std::string& right,
                     double interval_confidence) {
  if (culprit.effects.empty()) return "";
  return "\nThe " + right + " against the " + left + ":\n\n" +
         effects_table(culprit.effects, left, right, interval_confidence);
}

/// " (99.7 % sure)", or nothing where no confidence is stated.
std::string sure(double confidence, const std::string& of_what = "") {
  if (!(confidence > 0)) return "";
  return " (" + human_confidence(confidence) + " sure" + of_what + ")";
}

std::string commit_part(const CulpritFacts& facts, double interval_confidence) {
  const CommitFacts& culprit = facts.commits.front();
  std::string text = table({"", ""},
                           {{"commit", code_cell(culprit.sha)},
                            {"subject", code_cell(culprit.subject, kSubjectMax)},
                            {"author", code_cell(culprit.author)},
                            {"author date", code_cell(culprit.author_date, 40)},
                            {"verified", facts.verified.empty() ? "not beyond the search itself"
                                                                : code_cell(facts.verified, 200)}},
                           10);
  if (facts.confidence > 0) {
    text += "\nThe search is " + human_confidence(facts.confidence) +
            " sure that it is this commit and none of the others between the two builds.\n";
  }
  text += evidence(facts, "parent", "commit", interval_confidence);
  if (!culprit.changed_paths.empty()) {
    text += "\nFiles it changes:\n\n" + paths(culprit, kPathsMax);
  }
  return text;
}

/// Commits of which one is a culprit.
std::string one_of(const std::vector<CommitFacts>& commits, double confidence) {
  std::vector<std::string> items;
  for (const auto& candidate : commits) {
    const std::string files = short_paths(candidate);
    items.push_back(commit_line(candidate) + (files.empty() ? "" : ": " + files));
  }
  std::string text = bullets(items, kCandidatesMax, "commits");
  if (confidence > 0) {
    text += "\nThe search is " + human_confidence(confidence) + " sure that it is one of these.\n";
  }
  return text;
}

std::string undecided_part(const CulpritFacts& facts, double interval_confidence) {
  std::string text = one_of(facts.commits, facts.confidence);
  if (!facts.verified.empty()) text += "\nVerified: " + code(facts.verified, 200) + "\n";
  return text + evidence(facts, "commit before", "last of them", interval_confidence);
}

std::string culprit_part(const CulpritFacts& culprit, const std::string& number,
                         double interval_confidence) {
  if (culprit.commits.size() == 1) {
    return "### Culprit" + number + "\n\n" + commit_part(culprit, interval_confidence);
  }
  return "### Could not tell, between these" + number + "\n\n" +
         undecided_part(culprit, interval_confidence);
}

std::string culprits_part(const SearchFacts& search, double interval_confidence) {
  std::string text;
  for (std::size_t i = 0; i < search.culprits.size(); ++i) {
    const std::string number =
        search.culprits.size() == 1
            ? ""
            : " (" + std::to_string(i + 1) + " of " + std::to_string(search.culprits.size()) + ")";
    text += (i == 0 ? "" : "\n") + culprit_part(search.culprits[i], number, interval_confidence);
  }
  return text;
}

std::string suspects_part(const SearchFacts& search) {
  std::string text = search.culprits.empty() ? "### Could not tell, between these\n\n"
                                             : "\n### Another one, could not tell which\n\n";
  return text + one_of(search.suspects, search.suspects_confidence);
}

std::string nobody_part(const SearchFacts& search) {
  return "### No culprit\n\nThe search blames no commit: " +
         code(search.reason.empty() ? "no reason was given" : search.reason, 300) + "\n";
}

std::string count(int number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string effort_part(const SearchFacts& search) {
  std::string text = "\nSearched " +
                     code(search.good.substr(0, 12) + ".." + search.bad.substr(0, 12)) + ": " +
                     count(search.commits, "commit") + ", of which " +
                     std::to_string(search.folded) + " cannot change the library; " +
                     count(search.builds, "build") + ", " + count(search.runs, "run") + ".\n";
  if (search.skipped.empty()) return text;
  std::vector<std::string> items;
  for (const auto& skipped : search.skipped) {
    items.push_back(short_sha(skipped.sha) + ": " + code(skipped.reason, 200));
  }
  return text + "\nNot measured:\n\n" + bullets(items, kSkippedMax, "commits");
}

/// Every cause is one commit.
bool decided(const SearchFacts& search) {
  return search.suspects.empty() && std::ranges::all_of(search.culprits, [](const auto& culprit) {
           return culprit.commits.size() == 1;
         });
}

std::string count_commits(std::size_t number) {
  return count(static_cast<int>(number), "commit");
}

std::string culprit_words(const CulpritFacts& culprit) {
  if (culprit.commits.size() == 1) {
    const auto& commit = culprit.commits.front();
    return "commit " + short_sha(commit.sha) + " " + code(commit.subject, kSubjectMax) +
           sure(culprit.confidence);
  }
  return "one of " + count_commits(culprit.commits.size()) + " that could not be told apart" +
         sure(culprit.confidence, " that it is one of them");
}

}  // namespace

std::string search_sentence(const SearchFacts& search) {
  std::string causes;
  for (const auto& culprit : search.culprits) {
    causes += (causes.empty() ? "" : ", and with ") + culprit_words(culprit);
  }
  if (!search.suspects.empty()) {
    causes += (causes.empty() ? "" : ", and with ") +
              culprit_words({search.suspects, search.suspects_confidence, {}, {}});
  }
  if (causes.empty()) {
    return "No commit is blamed: " +
           code(search.reason.empty() ? "no reason was given" : search.reason, 300) + ".";
  }
  return "It came with " + causes + (decided(search) ? "." : "; they are listed below.");
}

std::string search_section(const SearchFacts& search, double interval_confidence) {
  if (search.culprits.empty() && search.suspects.empty()) {
    return nobody_part(search) + effort_part(search);
  }
  std::string text = culprits_part(search, interval_confidence);
  if (!search.suspects.empty()) text += suspects_part(search);
  if (!decided(search) && !search.reason.empty()) {
    text += "\nWhy no further: " + code(search.reason, 300) + "\n";
  }
  return text + effort_part(search);
}

}  // namespace torchwatch::report
