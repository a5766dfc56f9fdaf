#include "endpoint.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;

/// Who asks: users, Apps, installations and their tokens, the making of Apps; and the repository.
class IdentityEndpoint final : public GithubEndpoint {
 public:
  explicit IdentityEndpoint(GithubAccounts& accounts) : accounts_(accounts) {}

  std::optional<GithubAnswer> answer(const GithubRequest& request, const GithubCaller& caller,
                                     GithubWorld& world) override {
    if (request.path == "/user") return user(caller, world);
    if (request.path == "/app") return app(caller, world);
    if (request.path == world.base()) return repository(caller, world);
    if (request.path == world.base() + "/installation") return installation(caller, world);
    if (fits(request.path, "/app/installations/*/access_tokens")) {
      return token(parts_of(request.path, "/app/installations/*/access_tokens").front(), caller);
    }
    if (!fits(request.path, "/app-manifests/*/conversions")) return {};
    return make_app(parts_of(request.path, "/app-manifests/*/conversions").front(), world);
  }

 private:
  static GithubAnswer user(const GithubCaller& caller, const GithubWorld& world) {
    if (caller.app != 0) return refusal(403, "Resource not accessible by integration");
    return {.status = 200, .body = world.shape(caller.user)};
  }

  static json shape(const GithubApp& app, const GithubWorld& world) {
    return {{"id", app.id},
            {"slug", app.slug},
            {"node_id", "A_" + std::to_string(app.id)},
            {"owner", world.shape(GithubUser{.login = "owner", .id = 7})},
            {"name", app.slug},
            {"description", nullptr},
            {"external_url", "https://torchwatch.example"},
            {"html_url", "https://github.com/apps/" + app.slug},
            {"created_at", world.now()},
            {"updated_at", world.now()},
            {"permissions", app.permissions},
            {"events", json::array()}};
  }

  GithubAnswer app(const GithubCaller& caller, const GithubWorld& world) {
    if (!caller.is_app_itself) return refusal(401, "A JSON web token could not be decoded");
    return {.status = 200, .body = shape(*accounts_.app(caller.app), world)};
  }

  static GithubAnswer repository(const GithubCaller& caller, const GithubWorld& world) {
    const auto name = world.repository().substr(world.repository().find('/') + 1);
    const bool may_write = !caller.permissions || caller.permissions->contains("issues");
    return {
        .status = 200,
        .body = {{"id", 1},
                 {"name", name},
                 {"full_name", world.repository()},
                 {"private", false},
                 {"has_issues", true},
                 {"permissions",
                  {{"admin", false}, {"push", may_write}, {"triage", may_write}, {"pull", true}}}}};
  }

  static json shape_of_installation(const GithubApp& app, const GithubWorld& world) {
    const std::string url = world.origin + "/app/installations/" + std::to_string(app.installation);
    return {{"id", app.installation},
            {"account", world.shape(GithubUser{.login = "owner", .id = 7})},
            {"repository_selection", "selected"},
            {"access_tokens_url", url + "/access_tokens"},
            {"repositories_url", world.origin + "/installation/repositories"},
            {"html_url", "https://github.com/settings/installations/1"},
            {"app_id", app.id},
            {"app_slug", app.slug},
            {"target_id", 7},
            {"target_type", "User"},
            {"permissions", app.permissions},
            {"events", json::array()},
            {"created_at", world.now()},
            {"updated_at", world.now()},
            {"single_file_name", nullptr},
            {"suspended_by", nullptr},
            {"suspended_at", nullptr}};
  }

  GithubAnswer installation(const GithubCaller& caller, const GithubWorld& world) {
    if (!caller.is_app_itself) return refusal(401, "A JSON web token could not be decoded");
    const auto& app = *accounts_.app(caller.app);
    if (app.installation == 0) return refusal(404, "Not Found");
    return {.status = 200, .body = shape_of_installation(app, world)};
  }

  GithubAnswer token(const std::string& installation, const GithubCaller& caller) {
    if (!caller.is_app_itself) return refusal(401, "A JSON web token could not be decoded");
    const auto& app = *accounts_.app(caller.app);
    if (std::to_string(app.installation) != installation) return refusal(404, "Not Found");
    const auto [made, ends_at] = accounts_.make_token(app);
    return {.status = 201,
            .body = {{"token", made},
                     {"expires_at", platform::iso_utc(ends_at)},
                     {"permissions", app.permissions},
                     {"repository_selection", "selected"}},
            .headers = {}};
  }

  /// A code is good once. The test put the Apps that are to be made into `extra`.
  GithubAnswer make_app(const std::string& code, GithubWorld& world) {
    auto& codes = world.extra["app_codes"];
    if (!codes.is_object() || !codes.contains(code)) return refusal(404, "Not Found");
    json answer = codes[code];
    codes.erase(code);
    GithubApp app;
    app.id = answer["id"];
    app.slug = answer["slug"];
    app.public_key = answer["public_key"];
    answer.erase("public_key");
    accounts_.add_app(app);
    answer.update(shape(app, world));
    return {.status = 201, .body = answer};
  }

  GithubAccounts& accounts_;
};

}  // namespace

std::unique_ptr<GithubEndpoint> make_identity_endpoint(GithubAccounts& accounts) {
  return std::make_unique<IdentityEndpoint>(accounts);
}

}  // namespace torchwatch::test
