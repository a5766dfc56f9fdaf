#pragma once

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "fake_clock.hpp"
#include "filed_incidents.hpp"
#include "github/client.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/identity/app_tokens.hpp"
#include "torchwatch/log/log.hpp"

/// One thing that happens. What `a` and `b` choose depends on it; every value is valid.
struct Step {
  int what = 0;
  int a = 0;
  int b = 0;
};
inline constexpr int kStepKinds = 14;
std::ostream& operator<<(std::ostream&, const Step&);

/// What died here takes nothing with it but what was not stored.
struct Killed {};

/// Passes requests on, may die before or after one, and watches whether the sender keeps to what
/// GitHub asks: a second between writes, no request before retry-after is over.
class WatchedClient final : public torchwatch::platform::HttpClient {
 public:
  WatchedClient(torchwatch::platform::HttpClient& to, const torchwatch::platform::Clock& clock)
      : to_(to), clock_(clock) {}
  torchwatch::Result<torchwatch::platform::HttpResponse> send(
      const torchwatch::platform::HttpRequest&) override;

  void kill_at(int request, bool after) { kill_at_ = request, kill_after_ = after; }
  /// Another process: it knows nothing of what the one before did.
  void restart();
  /// Another token: what GitHub asked of the one before is over.
  void forget_pause();
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void watch(const torchwatch::platform::HttpRequest&);

  torchwatch::platform::HttpClient& to_;
  const torchwatch::platform::Clock& clock_;
  int kill_at_ = 0;
  bool kill_after_ = false;
  std::optional<std::chrono::nanoseconds> last_write_;
  std::chrono::nanoseconds quiet_until_{0};
  std::vector<std::string> complaints_;
};

/// How a history begins.
struct Beginning {
  std::filesystem::path database;  ///< a copy of `empty_database`'s
  bool has_app = false;
  const torchwatch::test::RsaKey& key;
  std::filesystem::path key_file;
  torchwatch::comparison::Services& parts;  ///< those that filing does not use
  torchwatch::config::FileWhen file_when = torchwatch::config::FileWhen::searched;
};

/// Makes the database of a history that has not begun.
void make_empty_database(const std::filesystem::path&);

/// Incidents that are filed and talked about, deliveries, faults, kills, strangers and time, and a
/// GitHub that they reach.
class History {
 public:
  History(const Beginning&, torchwatch::test::ApiDescription);
  ~History();

  void take(const Step&);
  /// Every comparison is reported, faults end, time passes, everything is delivered.
  void end();
  /// What is not as it must be, in sentences: issues, comments, order, states, manners.
  std::vector<std::string> complaints();

  torchwatch::test::FakeGithubCore& core() { return core_; }
  int kills() const { return kills_; }
  const FiledIncidents& incidents() const { return incidents_; }
  std::string log_text() const { return log_text_.str(); }
  void close_database() { sender_.reset(), store_.reset(), database_.reset(); }

 private:
  void deliver();
  void start_sender();
  void plant_fault(int which);
  void let_stranger_copy(int which);

  torchwatch::test::FakeClock clock_;
  torchwatch::test::FakeGithubCore core_;
  torchwatch::test::FakeGithubClient github_;
  WatchedClient client_;
  std::ostringstream log_text_;
  torchwatch::log::Log log_;
  std::shared_ptr<torchwatch::github::TokenSource> tokens_;
  std::unique_ptr<torchwatch::storage::Database> database_;
  std::unique_ptr<torchwatch::storage::OutboxStore> store_;
  std::unique_ptr<torchwatch::github::OutboxSender> sender_;
  bool has_app_ = false;
  int kills_ = 0;
  std::filesystem::path path_;
  FiledIncidents incidents_;
};
