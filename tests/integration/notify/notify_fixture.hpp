#pragma once

#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fake_clock.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/notify/notices.hpp"
#include "torchwatch/notify/notifier.hpp"
#include "torchwatch/storage/rows.hpp"

namespace httplib {
class Server;
}

/// A service on 127.0.0.1 that keeps what is sent to it and answers as the test asks.
class FakeReceiver {
 public:
  struct Delivery {
    std::string path;
    std::string event;
    std::string id;
    std::string signature;
    std::string body;
  };
  FakeReceiver();
  ~FakeReceiver();
  FakeReceiver(const FakeReceiver&) = delete;
  FakeReceiver& operator=(const FakeReceiver&) = delete;

  std::string url() const;
  /// What each request is answered from now on.
  void answer_with(int status, const std::string& location = "");
  std::vector<Delivery> deliveries() const;

 private:
  mutable std::mutex mutex_;
  int status_ = 204;
  std::string location_;
  std::vector<Delivery> deliveries_;
  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
};

inline constexpr const char* kWebhookSecret = "a-webhook-secret-for-tests";
inline constexpr const char* kCommit = "5d1c1c3f0a9e5d1c1c3f0a9e5d1c1c3f0a9e5d1c";

/// A database with nightlies, and what tells others of them.
struct NotifyFixture {
  NotifyFixture();
  ~NotifyFixture();

  /// A nightly of that commit, measured and judged with one regressed series if `regressed`.
  torchwatch::storage::ComparisonRow nightly(const std::string& name, const std::string& commit);
  torchwatch::storage::ComparisonRow report(torchwatch::storage::ComparisonRow, bool regressed);
  torchwatch::storage::IncidentRow incident_of(torchwatch::storage::Id comparison,
                                               const std::string& title);
  void add_webhook(const std::string& name, const std::string& url,
                   std::vector<std::string> events = {});
  void add_mail(const std::string& name, const std::string& script,
                std::vector<std::string> events = {});
  void start();  ///< the receivers are known from now on: what was before is the past
  void queue();
  std::string deliver();  ///< why something waits
  std::vector<torchwatch::storage::OutboxRow> unsent() const;

  torchwatch::test::TemporaryFolder folder;
  torchwatch::test::FakeClock clock;
  torchwatch::config::Config config;
  std::ostringstream logged;
  torchwatch::log::Log log{{torchwatch::log::Level::debug, torchwatch::log::Format::json}, logged};
  std::unique_ptr<torchwatch::storage::Database> database;
  std::unique_ptr<torchwatch::process::ProcessRunner> processes;
  std::unique_ptr<torchwatch::notify::Notifier> notifier;
};
