#include <limits>

#include "key.hpp"

namespace torchwatch::config {
namespace {

using std::chrono::seconds;

void add_web_limits(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("web", "body_limit", &C::web, &C::Web::body_limit_bytes,
                      between(kKiB, 64 * kMiB), "Size limit of a request's body."));
  table.push_back(key("web", "head_time_limit", &C::web, &C::Web::head_time_limit,
                      between(seconds(1), seconds(600)),
                      "Time limit for a request's head to arrive."));
  table.push_back(key("web", "body_time_limit", &C::web, &C::Web::body_time_limit,
                      between(seconds(1), seconds(600)),
                      "Time limit for a request's body to arrive."));
}

void add_github_app(std::vector<Key>& table) {
  using C = Config;
  constexpr int kIdMax = std::numeric_limits<int>::max();
  table.push_back(key("github", "app_id", &C::github, &C::Github::app_id, between(0, kIdMax),
                      "The GitHub App that files, instead of a token: `torchwatch github setup` "
                      "makes one. 0: none."));
  table.push_back(key("github", "app_key_file", &C::github, &C::Github::app_key_file,
                      Allowed<std::filesystem::path>{}, "The file with the App's private key."));
  table.push_back(key("github", "installation", &C::github, &C::Github::installation,
                      between(0, kIdMax),
                      "The App's installation. 0: the one of the repository, which is asked for."));
}

void add_filing(std::vector<Key>& table) {
  using C = Config;
  add_owners(table);
  table.push_back(key("github", "file_when", &C::github, &C::Github::file_when,
                      words_of<FileWhen>("searched, named, at_once"),
                      "When an incident's issue is filed. searched: its search has ended, whatever "
                      "it found, but for what did not reproduce. named: a commit is named, or "
                      "there was nothing to search."));
  table.push_back(key("github", "issues_per_night", &C::github, &C::Github::issues_per_night,
                      between(1, 1000),
                      "How many issues a comparison may open; one more lists the rest."));
  table.push_back(key("github", "assign_author", &C::github, &C::Github::assign_author,
                      Allowed<bool>{},
                      "Assigns issues that name a commit to its author, as GitHub knows him."));
  table.push_back(key("github", "comment_on_pull", &C::github, &C::Github::comment_on_pull,
                      Allowed<bool>{},
                      "Comments once on the pull request of a commit that is named."));
  table.push_back(key("github", "monthly_digest", &C::github, &C::Github::monthly_digest,
                      Allowed<bool>{},
                      "Files an issue each month that lists what got faster or smaller."));
}

}  // namespace

void add_service(std::vector<Key>& table) {
  using C = Config;
  add_executor_kind(table);
  table.push_back(key(
      "executor", "machine_lock", &C::executor, &C::Executor::machine_lock, filled<std::string>(),
      "Name of the machine's lock, which any user may hold, or the absolute path of a file, which "
      "those may hold who may write to it. Services with the same lock measure one at a time."));
  table.push_back(key("executor", "scratch", &C::executor, &C::Executor::scratch,
                      filled<std::filesystem::path>(), "Where runs have their working folders."));
  table.push_back(key("executor", "output_limit", &C::executor, &C::Executor::output_limit_bytes,
                      between(4 * kKiB, kGiB),
                      "How much a run may print. One that prints more is ended, and has failed."));
}

void add_actions(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("actions", "repository", &C::actions, &C::Actions::repository,
                      owner_and_name(),
                      "The repository whose workflow builds commits, where [build] recipe is "
                      "\"actions\"."));
  table.push_back(key("actions", "workflow", &C::actions, &C::Actions::workflow,
                      filled<std::string>(), "The name of the workflow's file."));
  table.push_back(key("actions", "ref", &C::actions, &C::Actions::ref, filled<std::string>(),
                      "The branch or tag whose workflow runs."));
  table.push_back(key("actions", "artifact", &C::actions, &C::Actions::artifact,
                      filled<std::string>(),
                      "The name of the artifact that it makes, with a wheel or a LibTorch archive "
                      "in it."));
  table.push_back(key("actions", "token_file", &C::actions, &C::Actions::token_file,
                      Allowed<std::filesystem::path>{},
                      "The file with the token that starts it. Empty: that of [github]."));
}

void add_web(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("web", "address", &C::web, &C::Web::address, filled<std::string>(),
                      "The address that the daemon listens on."));
  table.push_back(
      key("web", "public_address", &C::web, &C::Web::public_address, http_address_or_none(),
          "Where people reach the pages, for links in issues, and for their pictures where "
          "anonymous_read is always. Empty: none."));
  table.push_back(
      key("web", "port", &C::web, &C::Web::port, between(0, 65'535), "Its port. 0: any free one."));
  table.push_back(
      key("web", "hosts", &C::web, &C::Web::hosts, distinct("host names, each once"),
          "Further names, besides the address, that a request's Host header may have."));
  table.push_back(key("web", "token_file", &C::web, &C::Web::token_file,
                      Allowed<std::filesystem::path>{},
                      "The file with a token that may do everything over the port, besides those "
                      "of `torchwatch token`. Empty: none."));
  table.push_back(key("web", "anonymous_read", &C::web, &C::Web::anonymous_read,
                      words_of<AnonymousRead>("loopback, never, always"),
                      "Who may read over the port without a token. loopback: who asks from this "
                      "machine, and through no proxy."));
  table.push_back(key("web", "cors_origins", &C::web, &C::Web::cors_origins, origins(),
                      "Web pages that may read the API from a browser."));
  table.push_back(key("web", "trusted_proxies", &C::web, &C::Web::trusted_proxies, ip_addresses(),
                      "Reverse proxies whose X-Forwarded-For names the client."));
  table.push_back(key("web", "requests_per_second", &C::web, &C::Web::requests_per_second,
                      between(0.1, 10'000.0),
                      "How much an address may ask for without a token, on average; ten seconds' "
                      "worth may come at once."));
  table.push_back(key("web", "socket", &C::web, &C::Web::socket, Allowed<std::filesystem::path>{},
                      "The Unix socket over which commands reach the daemon. Empty: control, "
                      "beside the database, or in /run/torchwatch while the installed unit runs."));
  table.push_back(
      key("web", "assets", &C::web, &C::Web::assets, Allowed<std::filesystem::path>{},
          "A folder from which the pages' script is read at each request, for those who "
          "work on it: service/assets/script. Empty: the program's own."));
  table.push_back(key("web", "perfetto", &C::web, &C::Web::perfetto, http_address_or_none(),
                      "The Perfetto to which a reader's browser hands a trace. Empty: traces are "
                      "only downloaded."));
  add_web_limits(table);
}

namespace {

void add_rights(std::vector<Key>& table) {
  using C = Config;
  using Commands = C::Commands;
  const std::pair<const char*, std::vector<std::string> Commands::*> rights[] = {
      {"bisect", &Commands::bisect}, {"retest", &Commands::retest}, {"ack", &Commands::ack},
      {"unack", &Commands::unack},   {"wrong", &Commands::wrong},   {"mute", &Commands::mute},
      {"cancel", &Commands::cancel}};
  for (const auto& [name, member] : rights) {
    table.push_back(key("github.commands", name, &C::commands, member, roles(),
                        "Who may give the command " + std::string(name) +
                            " in a comment: roles in the repository."));
  }
  table.push_back(key("github.commands", "allow", &C::commands, &Commands::allow, numeric_ids(),
                      "Users who may give every command but compare, whatever their role is."));
  table.push_back(key("github.commands", "per_user_per_day", &C::commands,
                      &Commands::per_user_per_day, between(0, 10'000),
                      "How many commands that cost measurements a user may give in 24 hours."));
  table.push_back(key("github.commands", "per_day", &C::commands, &Commands::per_day,
                      between(0, 100'000), "How many of them all users together may give."));
}

void add_conversation(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("github", "webhook_secret_file", &C::github, &C::Github::webhook_secret_file,
                      Allowed<std::filesystem::path>{},
                      "The file with the secret of the webhook that calls "
                      "/api/v1/webhooks/github. Empty: no webhook is taken."));
  table.push_back(key("github", "poll", &C::github, &C::Github::poll, between(seconds(0), kDay),
                      "From one look at issues and comments to the next, for what no webhook "
                      "brings. 0s: never."));
  table.push_back(key("github", "command_prefix", &C::github, &C::Github::command_prefix,
                      command_prefix(), "What a command in a comment begins with."));
  add_rights(table);
}

}  // namespace

void add_reports(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("github", "repository", &C::github, &C::Github::repository, owner_and_name(),
                      "Where issues are filed. Empty: they stay in the outbox."));
  table.push_back(key("github", "token_file", &C::github, &C::Github::token_file,
                      Allowed<std::filesystem::path>{},
                      "The file with the token for filing. Empty: an App files."));
  add_github_app(table);
  table.push_back(key("github", "api", &C::github, &C::Github::api, http_address(),
                      "The address of GitHub's API."));
  table.push_back(key("github", "commits", &C::github, &C::Github::commits, owner_and_name(),
                      "The repository in which issues link commits. Empty: [source] repository, "
                      "if that is an address on GitHub."));
  table.push_back(key("github", "labels", &C::github, &C::Github::labels,
                      distinct("labels, each once"),
                      "Labels of new issues. GitHub drops them if the token may not push."));
  table.push_back(key("github", "assignees", &C::github, &C::Github::assignees, users(),
                      "Who new issues are assigned to. GitHub leaves out who cannot be assigned "
                      "there."));
  table.push_back(key("github", "cc", &C::github, &C::Github::cc, logins(),
                      "Who new issues mention: logins, or teams as owner/team."));
  table.push_back(key("github", "statuses", &C::github, &C::Github::statuses, Allowed<bool>{},
                      "Give each nightly's commit the status torchwatch/nightly."));
  add_filing(table);
  add_conversation(table);

  table.push_back(key("pull", "keep", &C::pull, &C::Pull::keep, between(seconds(3600), 90 * kDay),
                      "How long builds of pull requests are kept."));

  table.push_back(
      key("log", "level", &C::log, &C::Log::level,
          words_of<log::Level>("debug, info, warning, error, off"),
          "What `torchwatch serve` writes to its log: records of this level and above."));
  table.push_back(key("log", "format", &C::log, &C::Log::format,
                      words_of<log::Format>("text, json"),
                      "Lines of text, or one JSON object per line."));
}

void add_upkeep(std::vector<Key>& table) {
  using C = Config;
  const auto any = between(seconds(0), 3650 * kDay);
  table.push_back(key("alarm", "no_nightly", &C::alarm, &C::Alarm::no_nightly, any,
                      "An issue is filed when no nightly has come for so long. 0s: never."));
  table.push_back(key("alarm", "no_verdict", &C::alarm, &C::Alarm::no_verdict, any,
                      "The same when nightlies have come but got no verdicts. 0s: never."));
  table.push_back(key("alarm", "no_delivery", &C::alarm, &C::Alarm::no_delivery, any,
                      "The same when an incident's issue could not be filed. 0s: never."));
  table.push_back(key("alarm", "no_self_test", &C::alarm, &C::Alarm::no_self_test, any,
                      "The same when nightlies have come but no self-test has ended. 0s: never."));

  table.push_back(key("retention", "samples", &C::retention, &C::Retention::samples, any,
                      "How long the samples of unchanged benchmarks are kept; then their number, "
                      "median, spread and digest stay. 0s: for ever."));
  table.push_back(
      key("retention", "logs", &C::retention, &C::Retention::logs, any,
          "How long the output of failed runs and of commit builds is kept. 0s: for ever."));
  table.push_back(key("retention", "traces", &C::retention, &C::Retention::traces, any,
                      "How long traces of runs are kept, of which the newest 1 GiB stay at most. "
                      "0s: as long as they fit."));
}

}  // namespace torchwatch::config
