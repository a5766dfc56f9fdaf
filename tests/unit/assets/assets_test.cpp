// The script of the pages, as browsers get it.
#include "torchwatch/assets/assets.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/platform/gzip.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

/// Asks for a file of a version, which is the folder's name.
Result<http::Reply> ask(const std::vector<http::Route>& routes, const std::string& version,
                        const std::string& name, bool accepts_gzip = false) {
  http::Request request;
  request.method = "GET";
  request.path = "/assets/" + version + "/" + name;
  request.accepts_gzip = accepts_gzip;
  const auto found = http::match(routes, request);
  if (!found) return fail(ErrorCode::not_found, "no route");
  request.path_parameters = found->parameters;
  return found->route->handler(request);
}

std::string own_version() {
  const auto folder = assets::folder();
  return folder.substr(7, folder.size() - 8);
}

}  // namespace

TEST_CASE("a file of the script has its type, a tag, and may be kept for ever") {
  const auto script = ask(assets::routes(), own_version(), "main.js").value();
  CHECK(script.content_type == "text/javascript; charset=utf-8");
  CHECK(script.headers.at("Cache-Control") == "public, max-age=31536000, immutable");
  CHECK(script.headers.at("ETag").size() == 66);
  CHECK_THAT(script.body, Contains("import "));
  CHECK(ask(assets::routes(), own_version(), "script.css").value().content_type ==
        "text/css; charset=utf-8");
}

TEST_CASE("who takes gzip gets the same bytes compressed, with a weak tag") {
  const auto plain = ask(assets::routes(), own_version(), "main.js").value();
  const auto packed = ask(assets::routes(), own_version(), "main.js", true).value();
  CHECK(packed.body == platform::gzip(plain.body));
  CHECK(packed.headers.at("Content-Encoding") == "gzip");
  CHECK(packed.headers.at("Vary") == "Accept-Encoding");
  CHECK(packed.headers.at("ETag") == "W/" + plain.headers.at("ETag"));
}

TEST_CASE("files of another version are not found: they must not meet in one page") {
  CHECK(ask(assets::routes(), "0123456789abcdef", "main.js").error().code == ErrorCode::not_found);
  CHECK(ask(assets::routes(), "disk", "main.js").error().code == ErrorCode::not_found);
}

TEST_CASE("a folder is read at each request, and what it lacks is the program's") {
  const test::TemporaryFolder folder;
  const auto routes = assets::routes(folder.path());
  CHECK(assets::folder(folder.path()) == "assets/disk/");
  folder.write("main.js", "// mine");
  CHECK(ask(routes, "disk", "main.js").value().body == "// mine");
  folder.write("main.js", "// changed");
  const auto changed = ask(routes, "disk", "main.js", true).value();
  CHECK(changed.body == "// changed");
  CHECK(changed.headers.at("Cache-Control") == "no-cache");
  const auto own = ask(routes, "disk", "keys.js").value();
  CHECK_THAT(own.body, Contains("registry"));
  CHECK(own.headers.at("Cache-Control") == "no-cache");
}

TEST_CASE("no name leads out of the folder or to anything but a script") {
  const test::TemporaryFolder folder;
  folder.write("token", "secret");
  folder.write("a.txt", "secret");
  folder.write(".hidden.js", "secret");
  const auto routes = assets::routes(folder.path());
  for (const std::string name :
       {"token", "a.txt", ".hidden.js", "..", "%2e%2e", "A.js", "../main.js", "", "main.js/"}) {
    INFO(name);
    CHECK_FALSE(ask(routes, "disk", name).has_value());
  }
}
