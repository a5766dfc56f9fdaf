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

std::string evidence(const SearchFacts& search, const std::string& left, const std::string& right,
                     double interval_confidence) {
  if (search.effects.empty()) return "";
  return "\nThe " + right + " against the " + left + ":\n\n" +
         effects_table(search.effects, left, right, interval_confidence);
}

std::string culprit_part(const SearchFacts& search, double interval_confidence) {
  const CommitFacts& culprit = *search.culprit;
  std::string text = "### Culprit\n\n";
  text += table({"", ""},
                {{"commit", code_cell(culprit.sha)},
                 {"subject", code_cell(culprit.subject, kSubjectMax)},
                 {"author", code_cell(culprit.author)},
                 {"author date", code_cell(culprit.author_date, 40)},
                 {"verified", search.verified.empty() ? "not beyond the search itself"
                                                      : code_cell(search.verified, 200)}},
                10);
  if (search.confidence > 0) {
    text += "\nThe search is " + human_confidence(search.confidence) +
            " sure that it is this commit and none of the others between the two builds.\n";
  }
  text += evidence(search, "parent", "commit", interval_confidence);
  if (!culprit.changed_paths.empty()) {
    text += "\nFiles it changes:\n\n" + paths(culprit, kPathsMax);
  }
  return text;
}

std::string candidates_part(const SearchFacts& search, double interval_confidence) {
  std::string text = "### Could not tell, between these\n\n";
  std::vector<std::string> items;
  for (const auto& candidate : search.candidates) {
    const std::string files = short_paths(candidate);
    items.push_back(commit_line(candidate) + (files.empty() ? "" : ": " + files));
  }
  text += bullets(items, kCandidatesMax, "commits");
  if (search.confidence > 0) {
    text += "\nThe search is " + human_confidence(search.confidence) +
            " sure that it is one of these.\n";
  }
  if (!search.reason.empty()) text += "\nWhy no further: " + code(search.reason, 300) + "\n";
  if (!search.verified.empty()) text += "\nVerified: " + code(search.verified, 200) + "\n";
  return text + evidence(search, "commit before", "last of them", interval_confidence);
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

/// " (99.7 % sure)", or nothing where the search states no confidence.
std::string sure(const SearchFacts& search, const std::string& of_what) {
  if (!(search.confidence > 0)) return "";
  return " (" + human_confidence(search.confidence) + " sure" + of_what + ")";
}

}  // namespace

std::string search_sentence(const SearchFacts& search) {
  if (search.culprit) {
    return "It came with commit " + short_sha(search.culprit->sha) + " " +
           code(search.culprit->subject, kSubjectMax) + " (" + human_confidence(search.confidence) +
           " sure).";
  }
  if (!search.candidates.empty()) {
    return "It came with one of " + count(static_cast<int>(search.candidates.size()), "commit") +
           " that could not be told apart" + sure(search, " that it is one of them") +
           "; they are listed below.";
  }
  return "No commit is blamed: " +
         code(search.reason.empty() ? "no reason was given" : search.reason, 300) + ".";
}

std::string search_section(const SearchFacts& search, double interval_confidence) {
  std::string text;
  if (search.culprit) {
    text = culprit_part(search, interval_confidence);
  } else if (!search.candidates.empty()) {
    text = candidates_part(search, interval_confidence);
  } else {
    text = nobody_part(search);
  }
  return text + effort_part(search);
}

}  // namespace torchwatch::report
