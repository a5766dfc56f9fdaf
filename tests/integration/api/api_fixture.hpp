#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "api_description.hpp"
#include "fake_clock.hpp"
#include "fake_random.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/api/api.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/events/feed.hpp"
#include "torchwatch/evidence/noise.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/signin/sign_ins.hpp"
#include "torchwatch/storage/rows.hpp"

torchwatch::test::ApiDescription api_description();

/// Tokens that are accepted: one may do everything, one only read, one also triage.
inline constexpr const char* kAnyToken = "tw_a-token-for-tests";
inline constexpr const char* kReaderToken = "tw_a-reader";
inline constexpr const char* kTriagerToken = "tw_a-triager";

/// API and pages over a fresh database. At its end every answer is compared with openapi.json, and
/// every request that was accepted as well.
struct Api {
  /// `perfetto`: where pages have traces opened.
  explicit Api(torchwatch::events::FeedLimits limits = {.clients_per_address_max = 2'000},
               const std::string& perfetto = "https://ui.perfetto.dev");
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  struct Answer {
    int status = 0;
    nlohmann::json body;
    std::string text;  ///< the body as it came
    std::map<std::string, std::string> headers;
  };
  using Headers = std::map<std::string, std::string>;

  Answer get(const std::string& series);
  /// The text of a page, with plain blanks where it has some that no line breaks at.
  std::string page(const std::string& series);
  /// With the token and as JSON, unless `headers` says otherwise.
  Answer post(const std::string& series, const std::string& body, Headers headers = {});
  /// Sends a DELETE with the token.
  Answer remove(const std::string& series);
  /// Posts over the Unix socket, without the token.
  Answer post_locally(const std::string& series, const std::string& body, Headers headers = {});
  Answer send(const std::string& method, const std::string& series, const std::string& body,
              const Headers& headers, const std::filesystem::path& socket = {});
  std::string url(const std::string& series) const;
  /// The answer to one who takes gzip, head and all, as it came.
  std::string compressed(const std::string& series) const;

  /// What the daemon would say of itself.
  torchwatch::health::Report service_now();
  /// The files of a build as the daemon would see them.
  torchwatch::report::BuildFiles files_of(const torchwatch::storage::BuildRow&) const;
  /// What the API gets from the daemon.
  torchwatch::api::Backend backend(torchwatch::storage::Database&);

  /// Puts one of everything into the database: two builds, a judged comparison, an incident with a
  /// message, an ended bisection with an event, a run, all with id 1 but the second build.
  void fill();
  /// One more open incident of the first comparison (after `fill`); its id.
  torchwatch::storage::Id add_incident(const std::string& key);
  /// A profile of the second build whose trace has this text (after `fill`); its run's id.
  torchwatch::storage::Id add_trace(const std::string& text = R"({"traceEvents":[]})");
  /// One series of the first build compared with itself (after `fill`).
  void add_self_test(torchwatch::Verdict verdict);
  /// One run of a comparison, of the only series; its samples are 40, 10, 30, 20 and 50 ns.
  void add_run(const torchwatch::storage::ComparisonRow&, torchwatch::storage::WallMillis now);
  /// `count` more builds.
  void add_builds(int count);

  torchwatch::test::TemporaryFolder folder;
  std::filesystem::path database_path = folder.path() / "torchwatch.sqlite";
  std::filesystem::path socket = folder.path() / "control";
  std::unique_ptr<torchwatch::storage::Database> database;
  std::unique_ptr<torchwatch::storage::Database> reader;  ///< what is shown is read by it
  torchwatch::test::FakeClock clock;
  torchwatch::test::FakeRandom random;
  std::mutex mutex;
  std::vector<torchwatch::health::Problem> problems;
  torchwatch::health::Doing doing;
  std::vector<torchwatch::test::Exchange> exchanges;
  std::atomic<int> woken = 0;
  std::atomic<int> tokens_changed = 0;
  std::string revoked_token;
  std::string refusal;  ///< why requests can never be carried out; empty: they can
  std::atomic<int> tidied = 0;
  /// Every commit, without its sha.
  torchwatch::report::CommitFacts commit{.sha = {},
                                         .subject = "Warm up <twice> (#123)",
                                         .author = "Ada <L>",
                                         .login = "ada-l",
                                         .author_date = "2026-08-16T10:00:00Z",
                                         .changed_paths = {"aten/src/ATen/native/Indexing.cpp"}};
  bool is_in_clone = true;  ///< whether anything is known of any commit
  torchwatch::report::CommitFacts facts_of(const std::string& sha) const {
    auto facts = is_in_clone ? commit : torchwatch::report::CommitFacts();
    facts.sha = sha;
    return facts;
  }
  std::vector<std::string> build_log = {};  ///< the end of what the recipe printed for each
  /// What every bisection searches.
  torchwatch::report::SearchedRange range = {};
  std::optional<std::int64_t> commits = 12;  ///< between those of any two builds
  static constexpr torchwatch::storage::Id kOutsideTheCache = 2;  ///< a build whose files are
  std::atomic<torchwatch::storage::Id> removed_build = 0;
  std::atomic<bool> is_pinned = false;  ///< the build with id 1
  std::unique_ptr<torchwatch::platform::HttpClient> client;
  std::unique_ptr<torchwatch::events::Feed> feed;
  torchwatch::http::TokenHolder tokens;
  std::unique_ptr<torchwatch::signin::SignIns> sign_ins;
  std::vector<torchwatch::http::Route> routes;  ///< of API and pages, as the daemon serves them
  std::unique_ptr<torchwatch::http::Server> server;
};
