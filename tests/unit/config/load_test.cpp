#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "temporary_folder.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/config/effective.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using torchwatch::test::TemporaryFolder;
using namespace std::chrono_literals;

namespace {

/// The error of a file with this text, without the folder in front of its name.
std::string error_of(const std::string& text) {
  const TemporaryFolder folder;
  const auto result = load(folder.write("torchwatch.toml", text), true);
  REQUIRE_FALSE(result.has_value());
  std::string message = result.error().text();
  const std::string prefix = folder.path().string() + "/";
  for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
    message.erase(at, prefix.size());
  }
  return message;
}

Config loaded(const std::string& text) {
  const TemporaryFolder folder;
  const auto result = load(folder.write("torchwatch.toml", text), true);
  if (!result) FAIL(result.error().text());
  return *result;
}

/// Keys stand behind a bare #, remarks behind "# ".
std::string uncommented(const std::string& example) {
  std::istringstream lines(example);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    text += line.substr(is_key ? 1 : 0) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a file with every kind of value is read") {
  const auto config = loaded(R"(
[channel]
kind = "wheel-index"
poll = "90s"
[build]
timeout = "4h"
cache_limit = "1GiB"
output_limit = 8192
[suite]
preset = "paper"
workloads = ["resnet18", "dlrm"]
configurations = ["cpu-train", "cpu-infer"]
variants = ["default", "bf16,batch=8"]
[measure]
enough = "250ms"
place_libraries = false
interleave = false
[detect]
threshold = 0.1
[sandbox]
kind = "bubblewrap"
readable = ["/opt/tools", "beside"]
recipe_network = true
environment = ["MY_SETTING"]
)");
  CHECK(config.sandbox.kind == SandboxKind::bubblewrap);
  CHECK(config.sandbox.readable ==
        std::vector<std::filesystem::path>{"/opt/tools", config.folder / "beside"});
  CHECK(config.sandbox.recipe_network);
  CHECK(config.sandbox.environment == std::vector<std::string>{"MY_SETTING"});
  CHECK(config.channel.kind == ChannelKind::wheel_index);
  CHECK(config.channel.poll == 90s);
  CHECK(config.build.timeout == 4h);
  CHECK(config.build.cache_limit_bytes == std::int64_t{1} << 30);
  CHECK(config.build.output_limit_bytes == 8192);
  CHECK(config.suite.preset == Preset::paper);
  CHECK(config.suite.workloads == std::vector<std::string>{"resnet18", "dlrm"});
  CHECK(config.suite.configurations.size() == 2);
  REQUIRE(config.suite.variants.size() == 2);
  CHECK(to_string(config.suite.variants.back()) == "bf16,batch=8");
  CHECK(config.measure.enough == 250ms);
  CHECK_FALSE(config.measure.place_libraries);
  CHECK_FALSE(config.measure.interleave);
  CHECK(config.detect.threshold == 0.1);
}

TEST_CASE("an unknown key names file, line and table, the key probably meant and the known ones") {
  const auto message = error_of("[build]\n\n  timeot = \"4h\"\n");
  CHECK(message.starts_with(
      "torchwatch.toml:3: [build] timeot: unknown key; did you mean \"timeout\"? "
      "keys of [build]: recipe, artifacts, timeout, "));
}

TEST_CASE("a key that was renamed names the new one") {
  CHECK(error_of("[measure]\ntake_turns = false\n") ==
        "torchwatch.toml:2: [measure] take_turns is now called [measure] interleave");
  CHECK(error_of("[detect]\ncreep_every = 0\n") ==
        "torchwatch.toml:2: [detect] creep_every is now called [detect] drift_every");
  CHECK(error_of("[detect]\ncreep_span = 7\n") ==
        "torchwatch.toml:2: [detect] creep_span is now called [detect] drift_span");
}

TEST_CASE("a key in the wrong table names the right one") {
  CHECK(error_of("[build]\nthreads = 2\n").find("did you mean [measure] threads?") !=
        std::string::npos);
  CHECK(error_of("threads = 2\n").find("did you mean [measure] threads?") != std::string::npos);
}

TEST_CASE("an unknown table is refused") {
  const auto message = error_of("[bulid]\njobs = 2\n");
  CHECK(message.starts_with("torchwatch.toml:1: [bulid]: unknown table; did you mean [build]? "));
}

TEST_CASE("variants are known words, each once, and at least one") {
  CHECK(error_of("[suite]\nvariants = [\"int3\"]\n").find("\"int3\" is not known; allowed: a ") !=
        std::string::npos);
  CHECK(error_of("[suite]\nvariants = [\"bf16\", \"bf16\"]\n")
            .find("invalid value [\"bf16\", \"bf16\"]: must be one or more, each once") !=
        std::string::npos);
  CHECK(error_of("[suite]\nvariants = []\n").find("invalid value []: must be one or more") !=
        std::string::npos);
}

TEST_CASE("a value of the wrong type says what was found and what is meant") {
  CHECK(error_of("[web]\nport = \"8420\"\n") ==
        "torchwatch.toml:2: [web] port: invalid string \"8420\": must be a whole number (0 to "
        "65535)");
  CHECK(
      error_of("[suite]\nworkloads = \"dlrm\"\n").find("invalid string \"dlrm\": must be a list") !=
      std::string::npos);
  CHECK(error_of("[suite]\nworkloads = [\"dlrm\", 3]\n")
            .find("invalid whole number in the list: must be a list of strings") !=
        std::string::npos);
  CHECK(error_of("[web]\nport = [1]\n").find("invalid list: must be a whole number") !=
        std::string::npos);
  CHECK(error_of("build = 3\n").find("build: is a table; write [build]") != std::string::npos);
  CHECK(error_of("[measure]\nplace_libraries = 1\n").find("1: must be true or false") !=
        std::string::npos);
  CHECK(error_of("[measure]\nthreads = 1.0\n").find("1.0: must be a whole number") !=
        std::string::npos);
}

TEST_CASE("a bad duration or size says how one is written") {
  CHECK(error_of("[build]\ntimeout = \"4 hours\"\n") ==
        "torchwatch.toml:2: [build] timeout: invalid value \"4 hours\": must be a duration: "
        "\"30d\", \"4h\", \"30m\", \"90s\" or \"500ms\" (1s to 7d)");
  CHECK(error_of("[build]\ntimeout = 14400\n").find("14400: must be a duration") !=
        std::string::npos);
  CHECK(error_of("[build]\ntimeout = \"1500ms\"\n").find("must be in whole seconds") !=
        std::string::npos);
  CHECK(error_of("[build]\ncache_limit = \"40 gigs\"\n").find("\"40 gigs\": must be a size") !=
        std::string::npos);
}

TEST_CASE("builds of others lie at an address or a path with the commit in it") {
  for (const auto* place : {"http://example.org/{commit}.zip", "builds/{commit}.zip",
                            "https://example.org/torch.zip", "https://[bad/{commit}.zip"}) {
    CAPTURE(place);
    CHECK(error_of(std::string("[build]\nartifacts = \"") + place + "\"\n")
              .find("with {commit} in it") != std::string::npos);
  }
  const std::string artifacts = "[build]\nartifacts = \"/builds/{commit}/torch.zip\"\n";
  CHECK(loaded(artifacts + "recipe = \"/bin/true\"\n").build.artifacts ==
        "/builds/{commit}/torch.zip");
  CHECK(error_of(artifacts).find("[build] artifacts: needs [build] recipe") != std::string::npos);
}

TEST_CASE("an index is an address, and archives need one") {
  CHECK(error_of("[channel]\nkind = \"archive\"\n").find("[channel] index: must be set") !=
        std::string::npos);
  for (const std::string invalid :
       {"nightly", "https://", "https://[bad", "https:///whl", "http://a b/", "http://h:port/"}) {
    CAPTURE(invalid);
    const auto error = error_of("[channel]\nindex = \"" + invalid + "\"\n");
    CHECK(error.find("begins with https:// or http:// and a host") != std::string::npos);
  }
  for (const std::string valid : {"http://me:a%20b@[::1]:80/whl", "https://h", "https://h?x=1"}) {
    CHECK(loaded("[channel]\nindex = \"" + valid + "\"\n").channel.index == valid);
  }
  for (const std::string since : {"yesterday", "2026-13-01", "2026-02-30"}) {
    INFO(since);
    CHECK(error_of("[channel]\nsince = \"" + since + "\"\n").find("a date such as 2026-08-16") !=
          std::string::npos);
  }
  const auto digits = "since = \"" + std::string(300'000, '1') + "\"\n";
  CHECK(error_of("[channel]\n" + digits).find("of at most 64 characters") != std::string::npos);
  const auto config = loaded(R"([channel]
kind = "archive"
index = "https://example.org/libtorch-shared-with-deps-2.15.0.dev{date}%2Bcpu.zip"
flavour = "cpu"
since = "2.15.0.dev20260816+cpu"
)");
  CHECK(config.channel.kind == ChannelKind::archive);
  CHECK(config.channel.since == "2.15.0.dev20260816+cpu");
}

TEST_CASE("Python is of a wheel index alone") {
  const std::string python = "python = true\n";
  CHECK(loaded("[channel]\nkind = \"wheel-index\"\n" + python).channel.python);
  const auto refused = "[channel] python: can be true only where kind is wheel-index; ";
  const auto of_archives =
      error_of("[channel]\nkind = \"archive\"\nindex = \"https://x\"\n" + python);
  CHECK(of_archives ==
        "torchwatch.toml:4: " + std::string(refused) + "an archive has no Python part");
  CHECK(error_of("[channel]\n" + python).find(refused) != std::string::npos);
  CHECK_FALSE(loaded("[channel]\npython = false\n").channel.python);
}

TEST_CASE("values outside the limits are refused") {
  const std::map<std::string, std::string> cases{
      {"[web]\nport = 65536", "0 to 65535"},
      {"[web]\nport = 99999999999", "0 to 65535"},
      {"[measure]\nthreads = 0", "1 to 1024"},
      {"[detect]\nthreshold = nan", "0.005 to 2.0"},
      {"[detect]\nconfidence = 1", "0.8 to 0.9999"},
      {"[build]\ncache_limit = -1", "64MiB to 1024TiB"},
      {"[storage]\npath = \"\"", "must be non-empty"},
      {"[channel]\nkind = \"ftp\"", "directory, wheel-index"},
      {"[suite]\nconfigurations = [\"tpu-train\"]", "cpu-train, cpu-infer"},
      {"[suite]\nworkloads = [\"dlrm\", \"dlrm\"]", "each once"},
      {"[github]\nrepository = \"torch\"", "owner/name"},
      {"[github]\napi = \"ftp://x\"", "https://"},
      {"[github]\ncommits = \"torch\"", "owner/name"},
      {"[github]\ncc = [\"@ada\"]", "logins"},
      {"[github]\nassignees = [\"a b\"]", "logins"},
      {"[github]\nassignees = [\"pytorch/perf\"]", "no teams"},
      {"[github]\nlabels = [\"a\", \"a\"]", "each once"},
  };
  for (const auto& [text, allowed] : cases) {
    CAPTURE(text, allowed);
    const auto message = error_of(text);
    CHECK(message.find("torchwatch.toml:2: ") == 0);
    CHECK(message.find(allowed) != std::string::npos);
  }
}

TEST_CASE("a gate above the threshold is refused") {
  const auto message = error_of("[detect]\nthreshold = 0.05\ngate = 0.06\n");
  CHECK(message ==
        "torchwatch.toml:3: [detect] gate: invalid value 0.06: must be at most the "
        "threshold, 0.05");
  CHECK(error_of("[detect]\ngate = 0.08\n").find("at most the threshold, 0.07") !=
        std::string::npos);
  CHECK(loaded("[detect]\nthreshold = 0.05\ngate = 0.04\n").detect.gate == 0.04);
}

TEST_CASE("a gate that is not set follows the threshold in proportion") {
  CHECK(loaded("[detect]\nthreshold = 0.03\n").detect.gate == Approx(0.03 * 6 / 7));
  CHECK(loaded("[detect]\nthreshold = 0.2\n").detect.gate == Approx(0.2 * 6 / 7));
  CHECK(loaded("[detect]\nthreshold = 0.07\n").detect.gate == Config{}.detect.gate);
  CHECK(loaded("[detect]\nconfidence = 0.95\n").detect.gate == Config{}.detect.gate);
  for (const auto* threshold : {"0.005", "2.0"}) {
    CHECK(loaded("[detect]\nthreshold = " + std::string(threshold)).detect.gate > 0);
  }
}

TEST_CASE("every finding of a file is reported at once") {
  const auto message = error_of("[web]\nport = -1\nprot = 1\n[measure]\nthreads = 0\n");
  CHECK(std::count(message.begin(), message.end(), '\n') == 2);
}

TEST_CASE("what is no TOML names the line") {
  CHECK(error_of("[web]\nport = \n").starts_with("torchwatch.toml:2: "));
  CHECK(error_of("[web]\nport = 1\nport = 2\n").starts_with("torchwatch.toml:3: "));
}

TEST_CASE("a missing file is an error only where it is required") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "torchwatch.toml";
  CHECK(load(file, true).error().code == ErrorCode::not_found);
  const auto config = load(file, false);
  REQUIRE(config.has_value());
  CHECK(config->file.empty());
  CHECK(config->folder == folder.path());
  CHECK(config->storage.path == folder.path() / "state/torchwatch.sqlite");
}

TEST_CASE("a folder, and a file too large, are not a configuration") {
  const TemporaryFolder folder;
  CHECK(load(folder.path(), false).error().code == ErrorCode::invalid);
  const auto large = folder.write("large.toml", "#" + std::string(1 << 20, 'x'));
  CHECK(load(large, true).error().message.find("larger than 1 MiB") != std::string::npos);
}

TEST_CASE("commands reach the daemon beside its database unless a socket is named") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("torchwatch.toml", "[storage]\npath = \"state/db.sqlite\"\n");
  folder.write("named.toml", "[web]\nsocket = \"run/tw\"\n");
  CHECK(control_socket(load(folder.path() / "named.toml", true).value()) ==
        folder.path() / "run/tw");

  // The folder of the unit's service is there while that runs.
  const auto config = load(path, true).value();
  const UnitFolders unit{.state = folder.path() / "state", .runtime = folder.path() / "run"};
  CHECK(control_socket(config, unit) == folder.path() / "state/control");
  std::filesystem::create_directory(unit.runtime);
  CHECK(control_socket(config, unit) == folder.path() / "run/control");
  CHECK(control_socket(config, {.state = "/elsewhere", .runtime = unit.runtime}) ==
        folder.path() / "state/control");
}

TEST_CASE("relative paths start at the file, absolute ones and URLs stay, empty ones stay empty") {
  const TemporaryFolder folder;
  const auto file = folder.write("torchwatch.toml", R"(
[storage]
path = "/var/lib/torchwatch.sqlite"
[channel]
path = "../nightlies"
[source]
repository = "pytorch.git"
)");
  const auto config = load(file, true).value();
  CHECK(config.file == file);
  CHECK(config.storage.path == "/var/lib/torchwatch.sqlite");
  CHECK(config.channel.path == folder.path().parent_path() / "nightlies");
  CHECK(config.source.repository == (folder.path() / "pytorch.git").string());
  CHECK(config.build.recipe.empty());
  for (const auto* url : {"https://host/pytorch", "git@host:owner/name.git", "file:///srv/p.git"}) {
    CHECK(loaded("[source]\nrepository = \"" + std::string(url) + "\"").source.repository == url);
  }
}

TEST_CASE("the example, as it is and with every key uncommented, gives the defaults") {
  const TemporaryFolder folder;
  const auto defaults = load(folder.path() / "absent.toml", false).value();
  for (const auto& text : {example(), uncommented(example())}) {
    const auto read = load(folder.write("torchwatch.toml", text), true);
    if (!read) FAIL(read.error().text());
    CHECK(read->storage.path == defaults.storage.path);
    CHECK(read->build.cache_limit_bytes == defaults.build.cache_limit_bytes);
    CHECK(read->measure.enough == defaults.measure.enough);
    CHECK(read->detect.gate == defaults.detect.gate);
    CHECK(read->web.port == defaults.web.port);
    CHECK(read->github.api == defaults.github.api);
  }
}

TEST_CASE("every key of the table stands in the example once, with its default") {
  const auto text = uncommented(example());
  std::set<std::string> seen;
  for (const auto& key : keys()) {
    CAPTURE(key.table, key.name);
    CHECK(seen.insert(key.table + "." + key.name).second);
    CHECK_FALSE(key.meaning.empty());
    CHECK(text.find("\n" + key.name + " = " + key.default_value + "\n") != std::string::npos);
  }
  CHECK(seen.size() > 40);
}

TEST_CASE("every key alone in a file is accepted with its default") {
  const TemporaryFolder folder;  // paths are relative to it
  const auto defaults = effective_values(folder.path() / "absent.toml", false).value();
  const auto all = keys();
  REQUIRE(defaults.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].table, all[i].name);
    const auto text =
        "[" + all[i].table + "]\n" + all[i].name + " = " + all[i].default_value + "\n";
    const auto read = effective_values(folder.write("torchwatch.toml", text), true);
    if (!read) FAIL(read.error().text());
    CHECK(read->at(i).value == defaults[i].value);
    CHECK(read->at(i).line == 2);
  }
}

TEST_CASE("commits are linked where [source] is on GitHub, or where [github] says") {
  Config config;
  CHECK(commits_address(config).empty());
  config.source.repository = "/srv/pytorch.git";
  CHECK(commits_address(config).empty());
  config.source.repository = "https://github.com/pytorch/pytorch.git";
  CHECK(commits_address(config) == "https://github.com/pytorch/pytorch");
  config.github.commits = "mirror/pytorch";
  CHECK(commits_address(config) == "https://github.com/mirror/pytorch");
  config.github.api = "https://github.example.org/api/v3";
  CHECK(commits_address(config) == "https://github.example.org/mirror/pytorch");
}

TEST_CASE("issues are linked on the server that they are filed on") {
  Config config;
  CHECK(issues_address(config).empty());
  config.github.repository = "pytorch/pytorch";
  CHECK(issues_address(config) == "https://github.com/pytorch/pytorch");
  config.github.api = "https://github.example.org/api/v3";
  CHECK(issues_address(config) == "https://github.example.org/pytorch/pytorch");
}
