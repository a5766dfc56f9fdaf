// What an administrator asks the daemon for over HTTP, done on real files.
#include <catch2/catch.hpp>
#include <filesystem>

#include "raw_sql.hpp"
#include "requests.hpp"
#include "running_service.hpp"
#include "scripted_day.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/build_store.hpp"

using namespace torchwatch;
using nlohmann::json;
using Service = test::RunningService;

namespace fs = std::filesystem;

namespace {

json answer_of(const platform::HttpResponse& response, int status = 200) {
  CHECK(response.status == status);
  return json::parse(response.body);
}

/// A release in the cache, as one that was fetched.
storage::BuildRow add_release(const Service& service) {
  storage::BuildStore builds(service.application->services().database);
  auto row = builds.discover(storage::BuildOrigin::release, "2.13.0").value();
  row.content_hash = "h";
  row.folder = service.config.build.cache / "releases" / "2.13.0" / "torch";
  fs::create_directories(row.folder);
  return builds.mark_ready(row).value();
}

}  // namespace

TEST_CASE("a backup that is asked for over HTTP is a whole copy in the folder of backups") {
  Service service;
  service.start();
  add_release(service);
  const auto made = answer_of(service.send("POST", "/api/v1/database/backup", "{}"));
  const fs::path file = made.at("backup");
  CHECK(file.parent_path() == config::backups_folder(service.config));
  CHECK(file.parent_path() == service.config.storage.path.parent_path() / "backups");
  CHECK(made.at("bytes") == fs::file_size(file));
  const auto copy = storage::Database::open({.path = file, .read_only = true}).value();
  CHECK(copy->check_invariants().value().empty());
  CHECK(storage::BuildStore(*copy).list().value().size() == 1);
}

TEST_CASE("no backup is made over HTTP on a disk without its reserve") {
  Service service;
  service.config.build.disk_reserve_bytes = std::int64_t{1} << 60;
  service.start();
  CHECK(service.send("POST", "/api/v1/database/backup", "{}").status == 503);
  CHECK_FALSE(fs::exists(config::backups_folder(service.config)));
}

TEST_CASE("a check that is asked for over HTTP names the rules that are broken") {
  Service service;
  service.start();
  const auto check = [&] {
    return answer_of(service.send("POST", "/api/v1/database/check", "{}")).at("broken_rules");
  };
  CHECK(check().empty());
  test::raw_sql(service.config.storage.path,
                "INSERT INTO build (origin, name, state) VALUES ('folder', 'b', 'ready')");
  CHECK(check().dump().find("ready_build_is_verified") != std::string::npos);
}

TEST_CASE("the files of a build are pinned, let go and removed over HTTP") {
  Service service;
  service.start();
  const auto build = add_release(service);
  const auto path = "/api/v1/builds/" + std::to_string(build.id);
  CHECK(answer_of(service.send("POST", path + "/pin", "{}")).at("pinned") == true);
  CHECK(fs::exists(fs::path(build.folder) / "pinned"));
  answer_of(service.send("DELETE", path), 409);
  CHECK(answer_of(service.send("POST", path + "/unpin", "{}")).at("pinned") == false);
  CHECK(answer_of(service.send("DELETE", path)).at("removed") == true);
  CHECK_FALSE(fs::exists(build.folder));
  answer_of(service.send("DELETE", path), 409);
  const auto changes = service.get("/api/v1/audit").at("changes");
  CHECK(changes.size() == 3);
  CHECK(changes.at(0).at("path") == "DELETE " + path);
}

TEST_CASE("a build that is asked for over HTTP is fetched when its request has its turn") {
  Service service;
  const test::ScriptedDay day(service.folder.path() / "day", {{"One", "noise 0.01"}, {"Two", ""}});
  service.config.channel.path = day.config().channel.path;
  service.start();
  CHECK(service.send("POST", "/api/v1/builds", R"({"name": "nowhere"})").status == 422);
  const auto path = service.ask("/api/v1/builds", {{"name", "2026-08-17"}});
  CHECK(daemon::attend_next_request(*service.application, daemon::Urgency::in_turn, {}) == true);
  const auto request = service.get(path);
  CHECK(request.at("kind") == "fetch");
  CHECK(request.at("state") == "done");
  const auto build =
      service.get("/api/v1/builds/" + std::to_string(request.at("result").at("build").get<int>()));
  CHECK(build.at("name") == "2026-08-17");
  CHECK(build.at("state") == "ready");
}
