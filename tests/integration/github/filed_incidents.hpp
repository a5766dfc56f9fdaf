#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "github/core.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/filing/filing.hpp"
#include "torchwatch/storage/rows.hpp"

/// What came out of the search for an incident's culprit.
enum class End { named, likely, set, none, not_reproduced, nothing_to_search };
inline constexpr int kEnds = 6;

/// Comparisons with incidents and their searches, filed by the service; and what GitHub must have
/// of them, which this decides by itself, from what docs/github.md promises.
class FiledIncidents {
 public:
  /// `parts` are those that filing does not use.
  FiledIncidents(torchwatch::comparison::Services& parts, torchwatch::config::FileWhen file_when,
                 const torchwatch::platform::Clock& clock,
                 torchwatch::test::FakeGithubCore& github);

  /// The database, which another process opens after each kill.
  void use(torchwatch::storage::Database& database) { database_ = &database; }

  /// A comparison is judged: up to five incidents, of kinds that `which` chooses.
  void open_comparison(int count, int which);
  /// The oldest comparison that was not reported is, with searches that ended in some way. False:
  /// there is none.
  bool report_next(int ends, bool dies_first);
  /// One search is repeated, and ends in some way.
  void search_again(int which, int end);
  /// Something is said about one incident; a comment, a closing, a reopening.
  void say(int which, torchwatch::storage::OutboxKind);
  bool is_empty() const { return told_.empty(); }

  /// What is not as it must be, in sentences.
  std::vector<std::string> complaints();
  /// How many incidents have an issue of their own, and how many have none.
  std::pair<int, int> filed_and_not() const;
  int umbrellas() const;

 private:
  /// An incident, and what GitHub must have of it.
  struct Told {
    torchwatch::storage::Id incident = 0;
    std::string marker;  ///< what the one of its issue begins with
    torchwatch::IncidentKind kind = torchwatch::IncidentKind::regression;
    double ratio = 1;
    std::optional<End> end;  ///< nothing: it is still searched
    bool has_issue = false;
    std::vector<std::string> comments;  ///< what their markers begin with, in order
    std::string state = "open";
    int said = 0;
  };
  struct Compared {
    torchwatch::storage::ComparisonRow row;
    std::vector<std::size_t> incidents;  ///< of told_
    bool is_reported = false;
    std::size_t beyond = 0;  ///< the cap
  };
  using Complaints = std::vector<std::string>;

  void add_incident(Compared&, int which);
  std::size_t let_in(const std::vector<std::size_t>& candidates, std::size_t places);
  void store(const std::function<torchwatch::Status(torchwatch::comparison::Services&)>&,
             bool dies_first);
  torchwatch::filing::FactsOf facts_of();
  torchwatch::storage::IncidentRow row_of(const Told&) const;
  std::vector<torchwatch::storage::OutboxRow> messages_of(const Told&) const;
  std::vector<torchwatch::test::GithubIssue> ours_with(const std::string& marker) const;
  void check(const Told&, Complaints&) const;
  void check_issue(const Told&, const torchwatch::test::GithubIssue&, Complaints&) const;
  void check_umbrella(const Compared&, Complaints&) const;

  torchwatch::comparison::Services& parts_;
  torchwatch::config::Config config_;
  const torchwatch::platform::Clock& clock_;
  torchwatch::test::FakeGithubCore& github_;
  torchwatch::storage::Database* database_ = nullptr;
  std::vector<Told> told_;
  std::vector<Compared> compared_;
};

/// Whether it is written by the accounts of histories.
bool is_ours(const torchwatch::test::GithubUser&);
