#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/log/log.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::config {

enum class ChannelKind { directory, wheel_index, archive };
/// Who may read over the port without a token.
enum class AnonymousRead { loopback, never, always };
/// automatic: bubblewrap where it works, else none.
enum class SandboxKind { automatic, bubblewrap, none };

/// The threshold of some series, written METRIC [WORKLOAD [CONFIGURATION]] SHARE with * for any.
/// Leaks are judged by their bytes and have no threshold.
struct SeriesThreshold {
  std::optional<Metric> metric;  ///< none: any
  std::string workload;          ///< empty: any
  std::optional<Configuration> configuration;
  double threshold = 0.07;  ///< candidate / baseline - 1, 0.005 to 2

  bool fits(const Series&) const;
  auto operator<=>(const SeriesThreshold&) const = default;
};
/// The threshold as it is written in the file.
std::string to_string(const SeriesThreshold&);
/// Reads a threshold as it is written in the file. Errors: invalid, with what is allowed.
Result<SeriesThreshold> parse_series_threshold(std::string_view);

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
    int keep = 2;         ///< how many of its newest builds stay whatever the cache's limit is
  } channel;
  struct Source {
    std::string repository;  ///< empty: no commits are searched
    std::string branch = "main";
  } source;
  struct Build {
    std::filesystem::path recipe;  ///< empty: no per-commit builds
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
  struct Suite {
    Preset preset = Preset::small;
    std::vector<std::string> workloads;         ///< empty: all
    std::vector<Configuration> configurations;  ///< empty: what the machine has
    std::vector<Variant> variants = {Variant{}};
    std::filesystem::path inference_batches;  ///< empty: the preset's
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
  } measure;
  struct Detect {
    double threshold = 0.07;
    double gate = 0.06;  ///< follows the threshold in proportion unless the file sets it
    double confidence = 0.99;
    double false_incidents_per_year = 1;
    std::vector<SeriesThreshold> thresholds;  ///< for single series; the last that fits holds
    int drift_every = 7;  ///< nightlies from one comparison with an older one to the next; 0: none
    int drift_span = 28;  ///< how many nightlies back the older one is
  } detect;
  struct Bisect {
    double confidence = 0.99;
    int builds_max = 60;
    int runs_max = 2000;
    std::vector<std::string> cannot_change;  ///< empty: bisect's default deny-list
    bool verify_by_revert = true;
  } bisect;
  struct Executor {
    std::string machine_lock = "torchwatch";
    std::filesystem::path scratch = "state/scratch";
    std::int64_t output_limit_bytes = std::int64_t{1} << 20;
  } executor;
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
    std::filesystem::path socket;           ///< empty: see control_socket
    std::int64_t body_limit_bytes = std::int64_t{1} << 20;
    std::chrono::seconds head_time_limit{5};
    std::chrono::seconds body_time_limit{10};
  } web;
  struct Github {
    std::string repository;  ///< owner/name; empty: issues stay in the outbox
    std::filesystem::path token_file;
    std::string api = "https://api.github.com";
    std::string commits;  ///< owner/name whose commits are linked; empty: see commits_address
    std::vector<std::string> labels{"torchwatch"};
    std::vector<std::string> assignees;
    std::vector<std::string> cc;  ///< who is mentioned: logins and owner/team
  } github;
  struct Alarm {  ///< 0: never
    std::chrono::seconds no_nightly{4 * 86'400};
    std::chrono::seconds no_verdict{4 * 86'400};
    std::chrono::seconds no_delivery{86'400};
    std::chrono::seconds no_self_test{60 * 86'400};
  } alarm;
  struct Retention {  ///< 0: for ever
    std::chrono::seconds samples{400 * 86'400};
    std::chrono::seconds logs{90 * 86'400};
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
/// Returns the address of an incident's page; empty without [web] public_address.
std::string page_of_incident(const Config&, std::int64_t incident);
/// Returns whether [source] repository is an address, which the service clones.
bool is_cloned(const Config&);
/// Returns where the repository of [source] lies on this machine; empty without [source].
std::filesystem::path repository_folder(const Config&);

/// Returns the address under which GitHub shows [source]'s commits: by [github] commits, or by
/// [source] repository where that is on GitHub; empty where neither says.
std::string commits_address(const Config&);

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

/// Reads a secret from a file, which must have mode 0600 or 0400, without the space around it.
/// Errors name the file, never the content.
Result<std::string> read_secret(const std::filesystem::path&);

}  // namespace torchwatch::config
