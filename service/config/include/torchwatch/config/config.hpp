#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/log/log.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/scope.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::config {

enum class ChannelKind { directory, wheel_index, archive };
/// Who may read over the port without a token.
enum class AnonymousRead { loopback, never, always };
/// automatic: bubblewrap where it works, else none.
enum class SandboxKind { automatic, bubblewrap, none };
/// Where runs happen.
enum class ExecutorKind { local, slurm };

/// The threshold of some series, written METRIC [WORKLOAD [CONFIGURATION]] SHARE with * for any.
/// Leaks are judged by their bytes and have no threshold.
struct SeriesThreshold {
  std::optional<Metric> metric;  ///< none: any
  std::string workload;          ///< empty: any
  std::optional<Configuration> configuration;
  double threshold = 0.07;  ///< candidate / baseline - 1, 0.005 to 2

  bool fits(const Series&) const;
  /// Returns the threshold of values that are exact, where the common one is `common`: its own if
  /// it names the metric, else the lower one.
  double of_exact(double common) const;
  auto operator<=>(const SeriesThreshold&) const = default;
};
/// The threshold as it is written in the file.
std::string to_string(const SeriesThreshold&);
/// Returns the entry that holds for a series, which is the last that fits; null: none does. One for
/// all metrics is about noise, of which outputs have none.
const SeriesThreshold* entry_for(const std::vector<SeriesThreshold>&, const Series&);
/// Reads a threshold as it is written in the file. Errors: invalid, with what is allowed.
Result<SeriesThreshold> parse_series_threshold(std::string_view);

/// A workflow that may sign in without a secret ([[web.oidc]]): its token must say all of this.
struct TrustedWorkflow {
  std::string issuer = "https://token.actions.githubusercontent.com";
  std::string audience;          ///< empty: [web] public_address
  std::string repository_id;     ///< a number that survives renames
  std::string ref;               ///< "refs/heads/main"
  std::string job_workflow_ref;  ///< "owner/name/.github/workflows/nightly.yml@refs/heads/main"
  Scopes scopes;
};

/// When an incident's issue is filed.
enum class FileWhen {
  searched,  ///< its search has ended, whatever it found, but for changes that did not reproduce
  named,     ///< a commit is named; leaks and lost workloads without a search are filed, too
  at_once    ///< as soon as it is judged
};

/// Who is mentioned in the issues of certain workloads, and of culprits that change certain files.
struct Owner {
  std::vector<std::string> paths = {};  ///< patterns as those of [bisect] cannot_change
  std::vector<std::string> workloads = {};
  std::vector<std::string> notify = {};  ///< logins, or teams as owner/team
  bool operator==(const Owner&) const = default;
};

/// An executable of somebody's own that answers the runner's requests ([[suite.external]]).
struct ExternalWorkload {
  std::string name;
  std::vector<std::string> command;  ///< program and arguments; paths are absolute after loading
  std::vector<Metric> metrics;       ///< that it states: the passes that it is asked for
  Device device = Device::cpu;
  std::vector<Mode> modes = {Mode::train, Mode::infer};
  std::vector<std::filesystem::path> readable = {};  ///< besides its command and the build
  bool operator==(const ExternalWorkload&) const = default;
};

/// Nodes of one kind ([[slurm.class]]) and what they measure. What its table does not give is as in
/// [slurm], once it is loaded.
struct SlurmClass {
  std::string name;
  std::vector<Configuration> configurations;  ///< whose benchmarks its nodes measure
  std::string partition = {};
  std::string constraint = {};
  std::string gres = {};
  std::string account = {};
  bool exclusive = true;
  std::vector<std::string> options = {};
  int lanes = 1;
  std::chrono::seconds time{4 * 3600};
};

/// All settings of torchwatch.toml with their defaults. Paths are absolute after loading (relative
/// ones are relative to the file). The key of a member is its table and name.
struct Config {
  std::filesystem::path file;    ///< where it was read from; empty: defaults
  std::filesystem::path folder;  ///< relative paths start here

  struct Storage {
    std::filesystem::path path = "state/torchwatch.sqlite";
    std::filesystem::path backups;  ///< empty: see backups_folder
  } storage;
  struct Channel {
    ChannelKind kind = ChannelKind::directory;
    std::filesystem::path path = "nightlies";
    std::chrono::seconds poll{600};
    std::string index;    ///< of a wheel index: its address; empty: pip's own
    std::string flavour;  ///< only versions with this label; empty: all
    std::string since;    ///< a date or version, the oldest to take; empty: the newest two
    bool python = false;  ///< with what Python imports, and the packages that this requires
    int keep = 2;         ///< how many of its newest builds stay whatever the cache's limit is
  } channel;
  struct Source {
    std::string repository;  ///< empty: no commits are searched
    std::string branch = "main";
  } source;
  struct Build {
    std::filesystem::path recipe;  ///< empty: no per-commit builds; see is_built_by_actions
    std::string artifacts;         ///< where others' builds of commits lie; empty: nowhere
    std::chrono::seconds timeout{4 * 3600};
    int jobs = 0;      ///< parallel jobs of a build; 0: one per core, shared by builds at once
    int builders = 1;  ///< builds that a search makes at once
    std::filesystem::path cache = "state/builds";
    std::int64_t cache_limit_bytes = std::int64_t{40} << 30;
    std::int64_t disk_reserve_bytes = std::int64_t{1} << 30;  ///< free, before work begins
    std::filesystem::path kit_sources;  ///< empty: the checkout that this program was built from
    std::int64_t output_limit_bytes = std::int64_t{8} << 20;
  } build;
  struct Actions {
    std::string repository;  ///< owner/name whose workflow builds; empty: none does
    std::string workflow = "build.yml";
    std::string ref = "main";
    std::string artifact = "libtorch";
    std::filesystem::path token_file;  ///< empty: [github]'s
  } actions;
  struct Suite {
    Preset preset = Preset::small;
    std::vector<std::string> workloads;         ///< empty: all
    std::vector<Configuration> configurations;  ///< empty: what the machine has
    std::vector<Variant> variants = {Variant{}};
    std::filesystem::path inference_batches;  ///< empty: the preset's
    std::vector<ExternalWorkload> externals;  ///< beside the suite's own
  } suite;
  struct Measure {
    int threads = 1;
    int warmup = 5;
    int iterations = 30;
    std::chrono::milliseconds enough{500};
    std::chrono::seconds time_limit{300};
    std::int64_t memory_limit_bytes = 0;
    bool interleave =
        true;  ///< runs that are compared, where possible (comparison::is_interleaved)
    bool place_libraries = true;  ///< fresh copies of library files for each run
    bool outputs = false;         ///< what workloads compute is compared, too
  } measure;
  struct Detect {
    double threshold = 0.07;
    double gate = 0.06;  ///< follows the threshold in proportion unless the file sets it
    /// Where the runs of a build are all equal; never above the threshold.
    double exact_threshold = 0.02;
    std::int64_t exact_floor_bytes = std::int64_t{1} << 20;
    double output_tolerance = 1e-3;  ///< how far outputs may differ, as a share of their size
    double confidence = 0.99;
    double false_incidents_per_year = 1;
    std::vector<SeriesThreshold> thresholds;  ///< for single series; the last that fits holds
    int drift_every = 7;  ///< nightlies from one comparison with an older one to the next; 0: none
    int drift_span = 28;  ///< how many nightlies back the older one is
    int drill_every = 7;  ///< nightlies from one drill to the next; 0: none
    bool operators = false;           ///< each nightly looks at single operators
    double operator_threshold = 0.2;  ///< the size of change of an operator to find
    bool incident_traces = true;      ///< of both builds, and what their operators take
  } detect;
  struct Bisect {
    double confidence = 0.99;
    int builds_max = 60;
    int runs_max = 2000;
    std::vector<std::string> cannot_change;  ///< empty: bisect's default deny-list
    bool verify_by_revert = true;
  } bisect;
  struct Executor {
    ExecutorKind kind = ExecutorKind::local;
    std::string machine_lock = "torchwatch";
    std::filesystem::path scratch = "state/scratch";
    std::int64_t output_limit_bytes = std::int64_t{1} << 20;
  } executor;
  struct Slurm {  ///< where [executor] kind is slurm
    std::string partition;
    std::string constraint;
    std::string gres;
    std::string account;
    bool exclusive = true;
    std::vector<std::string> options;  ///< of sbatch, besides those
    int lanes = 1;                     ///< nodes held at once
    std::chrono::seconds time{4 * 3600};
    std::chrono::seconds idle{600};
    std::chrono::seconds queue_limit{12 * 3600};
    std::filesystem::path node_scratch = "/tmp/torchwatch";
    std::filesystem::path program;  ///< empty: torchwatch-carry beside this program
    bool copies = false;            ///< of builds and kits on the nodes
    std::int64_t copies_limit_bytes = std::int64_t{40} << 30;  ///< of those on one node
    bool builds = false;                                       ///< of commits are jobs of their own
    std::vector<std::string> build_options;                    ///< of srun, for those
    std::vector<SlurmClass> classes;                           ///< empty: see slurm_classes
  } slurm;
  struct Sandbox {
    SandboxKind kind = SandboxKind::automatic;
    std::vector<std::filesystem::path> readable;  ///< by every child; links of builds lead here
    std::vector<std::filesystem::path> writable;  ///< by recipes
    bool recipe_network = false;
    std::vector<std::string> environment;  ///< further variables that recipes see
  } sandbox;
  struct Web {
    std::string public_address;  ///< where people reach the pages; empty: issues link none
    std::string address = "127.0.0.1";
    int port = 8420;                           ///< 0: any free one
    std::vector<std::string> hosts;            ///< further names that a Host header may have
    std::vector<std::string> trusted_proxies;  ///< addresses whose X-Forwarded-For is believed
    double requests_per_second = 10;           ///< of an address without a token
    AnonymousRead anonymous_read = AnonymousRead::loopback;
    std::vector<std::string> cors_origins;  ///< pages of these may read the API
    std::filesystem::path token_file;       ///< empty: nothing can be written over the port
    std::vector<TrustedWorkflow> oidc;      ///< empty: no signed token counts
    std::filesystem::path socket;           ///< empty: see control_socket
    std::filesystem::path assets;           ///< empty: the script of pages is the program's
    std::string perfetto = "https://ui.perfetto.dev";  ///< empty: traces are only downloaded
    std::int64_t body_limit_bytes = std::int64_t{1} << 20;
    std::chrono::seconds head_time_limit{5};
    std::chrono::seconds body_time_limit{10};
  } web;
  struct Github {
    std::string repository;  ///< owner/name; empty: issues stay in the outbox
    std::filesystem::path token_file;
    int app_id = 0;  ///< an App instead of a token; 0: none
    std::filesystem::path app_key_file;
    int installation = 0;  ///< of the App; 0: it is asked for
    std::string api = "https://api.github.com";
    std::string commits;  ///< owner/name whose commits are linked; empty: see commits_address
    std::vector<std::string> labels{"torchwatch"};
    std::vector<std::string> assignees;
    std::vector<std::string> cc;  ///< who is mentioned: logins and owner/team
    bool statuses = false;        ///< commit statuses of nightlies
    std::vector<Owner> owners;
    FileWhen file_when = FileWhen::searched;
    int issues_per_night = 5;  ///< of one comparison; the others stand in one umbrella issue
    bool assign_author = false;
    bool comment_on_pull = false;
    bool monthly_digest = false;                ///< of improvements
    std::filesystem::path webhook_secret_file;  ///< empty: no webhooks are taken
    std::chrono::seconds poll{300};             ///< from one look at issues to the next; 0: never
    std::string command_prefix = "/";           ///< of commands in comments
  } github;
  struct Commands {  ///< in comments; each list has the roles that may give it
    std::vector<std::string> bisect{"admin", "write"};
    std::vector<std::string> retest{"admin", "write"};
    std::vector<std::string> ack{"admin", "write"};
    std::vector<std::string> unack{"admin", "write"};
    std::vector<std::string> wrong{"admin", "write"};
    std::vector<std::string> mute{"admin", "write"};
    std::vector<std::string> cancel{"admin", "write"};
    std::vector<std::string> allow;  ///< numeric ids of users who may give all
    int per_user_per_day = 10;       ///< commands that cost measurements
    int per_day = 40;                ///< of all together
  } commands;
  struct Pull {
    std::chrono::seconds keep{7 * 86'400};  ///< how long builds of pull requests stay
  } pull;
  struct Notify {
    struct Webhook {
      std::string name;
      std::string url;  ///< https, or http to a literal loopback address
      std::filesystem::path secret_file;
      std::vector<std::string> events;  ///< empty: all
    };
    struct Mail {
      std::string name;
      std::vector<std::string> to;
      std::string from;
      std::vector<std::string> events;  ///< empty: all
    };
    std::filesystem::path sendmail = "/usr/sbin/sendmail";
    std::vector<Webhook> webhooks;
    std::vector<Mail> mails;
  } notify;
  struct Alarm {  ///< 0: never
    std::chrono::seconds no_nightly{4 * 86'400};
    std::chrono::seconds no_verdict{4 * 86'400};
    std::chrono::seconds no_delivery{86'400};
    std::chrono::seconds no_self_test{60 * 86'400};
  } alarm;
  struct Retention {  ///< 0: for ever
    std::chrono::seconds samples{400 * 86'400};
    std::chrono::seconds logs{90 * 86'400};
    std::chrono::seconds traces{90 * 86'400};
  } retention;
  struct Log {
    torchwatch::log::Level level = torchwatch::log::Level::info;
    torchwatch::log::Format format = torchwatch::log::Format::text;
  } log;
};

/// The folders of the installed systemd unit.
struct UnitFolders {
  std::filesystem::path state = "/var/lib/torchwatch";
  std::filesystem::path runtime = "/run/torchwatch";  ///< there while the service runs
};

/// Returns the Unix socket of the daemon, over which commands of this machine reach it: [web]
/// socket; else, where the unit's service runs on a database of its state folder, `control` in the
/// folder that it has while it runs; else `control` beside the database.
std::filesystem::path control_socket(const Config&, const UnitFolders& unit = {});
/// Returns the folder of the backups that are asked for over HTTP: [storage] backups, else
/// `backups` beside the database.
std::filesystem::path backups_folder(const Config&);
/// Returns the files that hold secrets: tokens, keys, what signs webhooks.
std::vector<std::filesystem::path> secret_files(const Config&);
/// Returns the address of an incident's page; empty without [web] public_address.
std::string page_of_incident(const Config&, std::int64_t incident);
/// Returns the address of the page of a run's trace, likewise.
std::string page_of_trace(const Config&, std::int64_t run);
/// The same of a comparison's page.
std::string page_of_comparison(const Config&, std::int64_t comparison);
/// Returns whether [source] repository is an address, which the service clones.
bool is_cloned(const Config&);
/// Returns whether [build] recipe is the word for builds by a workflow of [actions].
bool is_built_by_actions(const Config&);
/// Returns where the repository of [source] lies on this machine; empty without [source].
std::filesystem::path repository_folder(const Config&);

/// Returns the address under which GitHub shows [source]'s commits: by [github] commits, or by
/// [source] repository where that is on GitHub; empty where neither says.
std::string commits_address(const Config&);
/// Returns the address of the server whose API [github] api is, with a slash at its end.
std::string github_address(const Config&);
/// Returns the same as owner/name; empty where GitHub does not have it.
std::string commits_repository(const Config&);

/// Returns the ratio from which on a change of a series counts; `is_exact`: one of values that all
/// runs of each build state alike.
using ThresholdOf = std::function<double(const Series&, bool is_exact)>;
/// Makes that of the configured thresholds.
ThresholdOf threshold_ratios(const Config&);

/// One key, for the example file, --help and errors.
struct KeyDescription {
  std::string table;
  std::string name;
  std::string type;           ///< "path", "duration", "list of strings", ...
  std::string default_value;  ///< as it would be written in TOML
  std::string allowed;  ///< "1 to 1024", "directory, wheel-index", empty: anything of the type
  std::string meaning;  ///< one sentence
};
/// All keys, table by table.
std::vector<KeyDescription> keys();

/// The text of torchwatch.example.toml: every key with its default and meaning, commented out.
std::string example();

/// Reads a configuration. Unknown keys, wrong types and values that are not allowed are errors
/// that name file, line, key and what is allowed; all errors of a file are reported at once. A
/// missing file is an error only if `required`. Errors: invalid, not_found, unavailable.
Result<Config> load(const std::filesystem::path& file, bool required);

}  // namespace torchwatch::config
