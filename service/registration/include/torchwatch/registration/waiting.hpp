#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "torchwatch/http/router.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::registration {

/// GitHub's answer that is waited for. It counts once, with the state that was sent, within the
/// time limit. Thread-safe.
class AwaitedAnswer {
 public:
  /// `state` is random; `asked_at` is the wall time of the question.
  AwaitedAnswer(const platform::Clock&, std::string state, platform::WallMillis asked_at,
                std::chrono::seconds time_limit);

  const std::string& state() const { return state_; }
  /// Takes the code out of the query of the address to which GitHub sent the browser. Errors:
  /// invalid (another state, no code), conflict (taken already), timed_out.
  Result<std::string> take(const std::multimap<std::string, std::string>& query);

 private:
  const platform::Clock& clock_;
  const std::string state_;
  const platform::WallMillis asked_at_;
  const std::chrono::seconds time_limit_;
  std::mutex mutex_;
  bool is_taken_ = false;
};

/// Reads the query of an address. Errors: invalid, if it has none.
Result<std::multimap<std::string, std::string>> query_of(const std::string& address);

/// The two pages of the flow: "/" with the form (what `page` makes), and "/created", where GitHub
/// sends the browser. `made` changes the code into an App and returns what to tell the person.
/// `server` is where the form may be sent.
std::vector<http::Route> routes_of(
    AwaitedAnswer&, std::function<std::string()> page, const std::string& server,
    std::function<Result<std::string>(const std::string& code)> made);

}  // namespace torchwatch::registration
