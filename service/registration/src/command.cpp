#include "torchwatch/registration/command.hpp"

#include <atomic>
#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/http/server.hpp"
#include "torchwatch/registration/made_app.hpp"
#include "torchwatch/registration/waiting.hpp"
#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::registration {
namespace {

using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;
using nlohmann::json;

/// Where GitHub sends the browser of another machine: nothing answers there.
constexpr const char* kElsewhere = "http://127.0.0.1:1/created";
/// GitHub takes a code for an hour.
constexpr std::chrono::seconds kPrintedLimit{3'600};
constexpr std::size_t kStateBytes = 16;

std::string install_address(const config::Config& config, const MadeApp& app) {
  return config::github_address(config) + "apps/" + app.slug + "/installations/new";
}

/// Says what to do next, which holds no secret.
void report(const Invocation& invocation, const config::Config& config, const MadeApp& app,
            const std::filesystem::path& folder) {
  const AppFiles files(std::filesystem::absolute(folder));
  if (invocation.json) {
    commands::print_json(
        invocation,
        json{{"schema", 1},
             {"app_id", app.id},
             {"slug", app.slug},
             {"app_key_file", files.key.string()},
             {"webhook_secret_file",
              app.webhook_secret.empty() ? json(nullptr) : json(files.webhook_secret.string())},
             {"install", install_address(config, app)}});
    return;
  }
  invocation.out << "The App " << app.slug << " is made. Put this into the configuration, in place "
                 << "of token_file:\n\n[github]\n"
                 << (config.github.repository.empty() ? "repository = \"OWNER/NAME\"\n" : "")
                 << "app_id = " << app.id << "\napp_key_file = " << json(files.key.string())
                 << "\n";
  if (!app.webhook_secret.empty()) {
    invocation.out << "webhook_secret_file = " << json(files.webhook_secret.string()) << "\n";
  }
  invocation.out << "\nInstall it in the repository: " << install_address(config, app)
                 << "\nThen `torchwatch check` says what it may do.\n";
}

Result<MadeApp> fetch_and_store(const config::Config& config, const SetupOptions& options,
                                const SetupParts& parts, const std::string& code) {
  TW_TRY(auto app, fetch_app(parts.http, parts.clock, config.github.api, code));
  if (const auto stored = store(app, options.folder); !stored) {
    return fail(
        stored.error().code,
        stored.error().message + "; the key of App " + std::to_string(app.id) + " was not stored",
        "make another key in the App's settings at GitHub");
  }
  return app;
}

/// Prints the page, and remembers its state for the answer.
Outcome print_page(const Invocation& invocation, const config::Config& config,
                   const SetupOptions& options, const SetupParts& parts) {
  const auto state = parts.random.token(kStateBytes);
  const AppFiles files(options.folder);
  std::error_code ignored;
  std::filesystem::remove(files.state, ignored);  // of a question that nobody answered
  TW_TRY_VOID(write_secret(files.state,
                           json{{"state", state}, {"asked_at", parts.clock.wall_now()}}.dump()));
  invocation.out << page_of(options.plan, config::github_address(config), kElsewhere, state);
  invocation.err << "Open this page in a browser on any machine and say yes at GitHub. The browser "
                    "is then sent to an address at which nothing answers. Copy it, and within an "
                    "hour call: torchwatch github setup --folder "
                 << options.folder.string() << " --answer ADDRESS\n";
  return ExitStatus::done;
}

Outcome take_answer(const Invocation& invocation, const config::Config& config,
                    const SetupOptions& options, const SetupParts& parts) {
  const AppFiles files(options.folder);
  const auto text = secrets::read_secret(files.state);
  if (!text) {
    return fail(ErrorCode::not_found, "no question is open in " + options.folder.string(),
                "begin with `torchwatch github setup --print-only`");
  }
  const auto question = json::parse(*text, nullptr, false);
  const auto has = [&](const char* name, json::value_t type) {
    return question.is_object() && question.contains(name) && question[name].type() == type;
  };
  if (!has("state", json::value_t::string) || !has("asked_at", json::value_t::number_unsigned)) {
    return fail(ErrorCode::corrupt, files.state.string() + " is damaged",
                "begin again with `torchwatch github setup --print-only`");
  }
  AwaitedAnswer awaited(parts.clock, question["state"].get<std::string>(),
                        question["asked_at"].get<platform::WallMillis>(), kPrintedLimit);
  TW_TRY(const auto query, query_of(options.answer));
  TW_TRY(const auto code, awaited.take(query));
  std::error_code ignored;
  std::filesystem::remove(files.state, ignored);  // an answer counts once
  TW_TRY(const auto app, fetch_and_store(config, options, parts, code));
  report(invocation, config, app, options.folder);
  return ExitStatus::done;
}

std::string origin_of(int port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

/// What the page's thread and the command share.
struct Made {
  std::mutex mutex;
  std::optional<Result<MadeApp>> app;
  std::stop_source ended;
};

Outcome wait_for_browser(const Invocation& invocation, const config::Config& config,
                         const SetupOptions& options, const SetupParts& parts) {
  const std::chrono::minutes time_limit(options.minutes);
  AwaitedAnswer awaited(parts.clock, parts.random.token(kStateBytes), parts.clock.wall_now(),
                        time_limit);
  Made made;
  const auto fetch = [&](const std::string& code) -> Result<std::string> {
    auto app = fetch_and_store(config, options, parts, code);
    const std::scoped_lock lock(made.mutex);
    made.app = app;
    made.ended.request_stop();
    if (!app) return fail(app.error());
    return "Go back to the terminal: it says what to do next.";
  };
  // The page names its own port, which is known only once something listens.
  std::atomic<int> port = 0;
  const auto server_of_github = config::github_address(config);
  const auto page = [&] {
    return page_of(options.plan, server_of_github, origin_of(port) + "/created", awaited.state());
  };
  http::ServerSettings settings;
  settings.port = options.port;
  TW_TRY(const auto server,
         http::Server::start(settings, routes_of(awaited, page, server_of_github, fetch),
                             parts.clock));
  port = server->port();
  invocation.err << "Open " << origin_of(port) << "/ in a browser on this machine. This waits for "
                 << options.minutes << " minutes; on a machine without a browser use --print-only."
                 << std::endl;
  const std::stop_callback stop(invocation.stop, [&] { made.ended.request_stop(); });
  parts.clock.wait(time_limit, made.ended.get_token());
  server->stop();
  const std::scoped_lock lock(made.mutex);
  if (!made.app && invocation.stop.stop_requested()) return ExitStatus::interrupted;
  if (!made.app) return fail(ErrorCode::timed_out, "nobody answered: no App was made");
  TW_TRY(const auto app, std::move(*made.app));
  report(invocation, config, app, options.folder);
  return ExitStatus::done;
}

Status add_permissions(SetupOptions& options) {
  for (const auto& text : options.permissions) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto right = equals == std::string::npos ? "" : text.substr(equals + 1);
    const bool is_name =
        !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
    if (!is_name || (right != "read" && right != "write")) {
      return fail(ErrorCode::invalid, "invalid permission \"" + text +
                                          "\": must be name=read or name=write, such as "
                                          "contents=write");
    }
    options.plan.permissions[name] = right;
  }
  return {};
}

/// Completes the plan by the configuration, where the command line says nothing.
void fill(AppPlan& plan, const config::Config& config) {
  const auto& address = config.web.public_address;
  if (!address.empty()) plan.home = address;
  const auto slash = address.ends_with("/") ? "" : "/";
  if (plan.webhook.empty() && address.starts_with("https://")) {
    plan.webhook = address + slash + "api/v1/webhooks/github";
  }
}

bool is_login(const std::string& text) {
  return text.size() <= 100 &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
             std::string::npos;
}

}  // namespace

Outcome set_up(const Invocation& invocation, const config::Config& config, SetupOptions options,
               const SetupParts& parts) {
  if (!is_login(options.plan.organization)) {
    return fail(ErrorCode::invalid,
                "invalid organization \"" + options.plan.organization + "\": must be its login");
  }
  if (invocation.json && options.print_only) {
    return fail(ErrorCode::invalid, "--print-only prints a page, not JSON", "leave --json away");
  }
  TW_TRY_VOID(add_permissions(options));
  fill(options.plan, config);
  TW_TRY_VOID(prepare_folder(options.folder));
  if (!options.answer.empty()) return take_answer(invocation, config, options, parts);
  if (options.print_only) return print_page(invocation, config, options, parts);
  return wait_for_browser(invocation, config, options, parts);
}

void add_github(commands::Commands& all) {
  commands::Noun noun(all, "github", "torchwatch's account at GitHub: make an App for it", "setup");
  auto options = std::make_shared<SetupOptions>();
  auto& setup = noun.add("setup", "Make a GitHub App, store its key, and say how it is installed",
                         [options](const Invocation& invocation) -> Outcome {
                           TW_TRY(const auto config, invocation.load_config());
                           const auto http = platform::make_http_client("torchwatch");
                           const platform::SystemClock clock;
                           platform::SystemRandom random;
                           return set_up(invocation, config, *options, {*http, clock, random});
                         });
  setup.add_option("--folder", options->folder, "Where key and webhook secret are stored")
      ->capture_default_str();
  setup.add_option("--name", options->plan.name, "The App's name, which nobody else may have")
      ->capture_default_str();
  setup.add_option("--organization", options->plan.organization,
                   "Who owns the App; default: who says yes at GitHub");
  setup.add_option("--webhook", options->plan.webhook,
                   "Where GitHub sends events; default: /api/v1/webhooks/github at [web] "
                   "public_address, where that is https");
  setup.add_option("--permission", options->permissions,
                   "A further permission, such as contents=write or actions=write");
  setup.add_option("--port", options->port, "The port of the page on 127.0.0.1; 0: any free one")
      ->check(commands::whole_number(0, 65'535))
      ->capture_default_str();
  setup.add_option("--minutes", options->minutes, "How long to wait for GitHub's answer")
      ->check(commands::whole_number(1, 60))
      ->capture_default_str();
  setup.add_flag("--print-only", options->print_only,
                 "Print the page, for a browser on another machine, and wait for nothing");
  setup.add_option("--answer", options->answer,
                   "After --print-only: the address to which GitHub sent that browser");
  setup.footer("torchwatch github setup --organization pytorch --folder github-app");
}

}  // namespace torchwatch::registration
