// An issuer on loopback, a server that trusts what it signs, and a client between them.
#include "torchwatch/oidc/signed_tokens.hpp"

#include <catch2/catch.hpp>
#include <future>

#include "signing_key.hpp"
#include "torchwatch/platform/http_client.hpp"

using namespace torchwatch;
using namespace torchwatch::oidc;
using nlohmann::json;
using test::SigningKey;

namespace {

const std::string kAudience = "https://perf.example.org";
const std::string kWorkflow = "owner/name/.github/workflows/nightly.yml@refs/heads/main";

const SigningKey& issuers_key() {
  static const SigningKey key("first");
  return key;
}

http::Reply answer(std::string body) {
  http::Reply reply;
  reply.body = std::move(body);
  return reply;
}

/// Serves its discovery document and its key.
class Issuer {
 public:
  explicit Issuer(const platform::Clock& clock) {
    http::ServerSettings settings;
    settings.others_may_read = true;
    server_ = *http::Server::start(
        settings,
        {{.method = "GET",
          .path = "/.well-known/openid-configuration",
          .handler = [this](const auto&) -> Result<http::Reply> {
            return answer(json{{"issuer", url()}, {"jwks_uri", url() + "/keys"}}.dump());
          }},
         {.method = "GET",
          .path = "/keys",
          .handler = [](const auto&) -> Result<http::Reply> {
            return answer(test::set_of({issuers_key().published()}));
          }}},
        clock);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

 private:
  std::unique_ptr<http::Server> server_;
};

/// A server with something to read and something to change, and who asks it.
class Asked {
 public:
  Asked() {
    config::Config config;
    config.web.public_address = kAudience + "/";  // as some write it
    config.web.oidc = {{.issuer = issuer_.url(),
                        .audience = {},
                        .repository_id = "74",
                        .ref = "refs/heads/main",
                        .job_workflow_ref = kWorkflow,
                        .scopes = {Scope::measure}}};
    // The first note comes when the keys have been fetched.
    std::promise<std::string> fetched;
    auto note = [&fetched, is_first = true](const std::string& problem) mutable {
      if (std::exchange(is_first, false)) fetched.set_value(problem);
    };
    auto opened = SignedTokens::open(config, clock_, {}, note);
    REQUIRE(opened);
    tokens_ = std::move(*opened);
    REQUIRE(fetched.get_future().get().empty());
    start_server();
  }

  int status(const std::string& method, const std::string& path, const std::string& token) {
    platform::HttpRequest request;
    request.method = method;
    request.url = "http://127.0.0.1:" + std::to_string(server_->port()) + path;
    request.headers = {{"Authorization", "Bearer " + token}};
    if (method == "POST") {
      request.headers["Content-Type"] = "application/json";
      request.body = "{}";
    }
    const auto reply = client_->send(request);
    REQUIRE(reply);
    said_ = reply->body;
    return reply->status;
  }

  std::string token(const json& changes = json::object()) {
    const auto now = clock_.wall_now() / 1'000;
    json claims{{"iss", issuer_.url()},
                {"aud", kAudience},
                {"repository_id", "74"},
                {"repository", "owner/name"},
                {"ref", "refs/heads/main"},
                {"job_workflow_ref", kWorkflow},
                {"jti", "job-" + std::to_string(++count_)},
                // As issued half a minute after the start: earlier ones change nothing.
                {"iat", now + 30},
                {"nbf", now - 5},
                {"exp", now + 300}};
    claims.update(changes);
    return issuers_key().sign(claims);
  }

  const std::string& said() const { return said_; }

 private:
  void start_server() {
    http::ServerSettings settings;
    tokens_->add_to(settings.tokens);
    const auto who = [](const http::Request& request) -> Result<http::Reply> {
      return answer(request.token_name);
    };
    server_ = *http::Server::start(
        settings,
        {{.method = "GET", .path = "/read", .handler = who, .scope = Scope::read},
         {.method = "POST", .path = "/change", .handler = who, .scope = Scope::measure},
         {.method = "POST", .path = "/rule", .handler = who, .scope = Scope::admin}},
        clock_);
  }

  platform::SystemClock clock_;
  Issuer issuer_{clock_};
  std::unique_ptr<SignedTokens> tokens_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<platform::HttpClient> client_ = platform::make_http_client("test");
  std::string said_;
  int count_ = 0;
};

}  // namespace

TEST_CASE_METHOD(Asked, "a job signs in with what the issuer signed, and is known by its name") {
  CHECK(status("GET", "/read", token()) == 200);
  CHECK(said() == "actions owner/name@refs/heads/main");
  CHECK(status("POST", "/change", token()) == 200);
  CHECK(said() == "actions owner/name@refs/heads/main");
}

TEST_CASE_METHOD(Asked, "a token is let in for one change, for reading, and for nothing above it") {
  const auto one = token();
  CHECK(status("POST", "/change", one) == 200);
  CHECK(status("POST", "/change", one) == 401);
  CHECK(said().find("changed something already") != std::string::npos);
  CHECK(status("GET", "/read", one) == 200);
  CHECK(status("POST", "/rule", token()) == 403);
}

TEST_CASE_METHOD(Asked, "the token of another job is wrong, and many wrong ones must wait") {
  CHECK(status("POST", "/change", token({{"ref", "refs/heads/other"}})) == 401);
  CHECK(status("POST", "/change", token({{"repository_id", "75"}})) == 401);
  CHECK(status("POST", "/change", token({{"aud", "https://other.example"}})) == 401);
  CHECK(status("POST", "/change", SigningKey("first").sign({{"iss", "x"}})) == 401);
  CHECK(status("POST", "/change", "tw_plain") == 401);
  CHECK(status("POST", "/change", "tw_plain") == 429);
  CHECK(status("POST", "/change", token()) == 200);
}

TEST_CASE("where no workflow is trusted nothing is fetched and nobody let in") {
  const platform::SystemClock clock;
  bool is_noted = false;
  const auto opened =
      SignedTokens::open({}, clock, {}, [&](const std::string&) { is_noted = true; });
  REQUIRE(opened);
  http::TokenHolder tokens;
  (*opened)->add_to(tokens);
  CHECK_FALSE(tokens.find_signed(issuers_key().sign({{"iss", "https://issuer.example"}})));
  CHECK_FALSE(is_noted);
}
