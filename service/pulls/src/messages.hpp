#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/pulls/pulls.hpp"

namespace torchwatch::pulls {

/// What is said on a pull request about one request.
struct Saying {
  PullSpec spec;
  storage::Id request = 0;
  std::string head = {};  ///< sha; empty: it is not known
  std::string base = {};  ///< sha
};

/// What came of a comparison, as far as it is said.
struct Came {
  std::string sentence;  ///< without a stop: "1 series regressed; 3 unchanged"
  std::vector<storage::VerdictRow> changed = {};  ///< the largest first
  double confidence = 0.99;
  std::string unit_of_plan = {};  ///< which part of the suite, at which size
  std::string page = {};          ///< of the comparison; may be empty
};

/// Make the comments' text, without a marker: that it is being compared, what came of it, why it is
/// not compared. They mention nobody.
std::string begun_comment(const Saying&);
std::string came_comment(const Saying&, const Came&);
std::string refused_comment(const Saying&, const std::string& why);

/// Make the message with a comment, edited into the pull request's one comment.
storage::OutboxRow comment_message(const Saying&, const std::string& step, const std::string& text,
                                   const std::string& secret);
/// Makes the mark of the head: a check run with a GitHub App, else a status. Neither is ever red.
/// No sentence and no summary: it is being compared.
storage::OutboxRow mark_message(const Saying&, bool has_app, const std::string& step,
                                const std::optional<Came>& came, bool is_neutral);

}  // namespace torchwatch::pulls
