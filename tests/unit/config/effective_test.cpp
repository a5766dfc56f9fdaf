#include "torchwatch/config/effective.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"

using namespace torchwatch;
using namespace torchwatch::config;

namespace {

EffectiveValue value_of(const std::vector<EffectiveValue>& values, const std::string& table,
                        const std::string& name) {
  const auto found = std::ranges::find_if(values, [&](const auto& value) {
    return value.key.table == table && value.key.name == name;
  });
  REQUIRE(found != values.end());
  return *found;
}

}  // namespace

TEST_CASE("the value of a key has the line that sets it, or its default") {
  const test::TemporaryFolder folder;
  const auto file =
      folder.write("torchwatch.toml", "[web]\n\nport = 9000\n[detect]\ngate = 0.05\n");
  const auto values = effective_values(file, true).value();
  CHECK(values.size() == keys().size());
  const auto port = value_of(values, "web", "port");
  CHECK(port.value == "9000");
  CHECK(port.line == 3);
  CHECK(value_of(values, "detect", "gate").line == 5);
  const auto threshold = value_of(values, "detect", "threshold");
  CHECK(threshold.line == 0);
  CHECK(threshold.value == threshold.key.default_value);
}

TEST_CASE("a value that follows another shows what is used, not its default") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("torchwatch.toml", "[detect]\nthreshold = 0.14\n");
  const auto values = effective_values(file, true).value();
  CHECK(value_of(values, "detect", "gate").value == "0.12");
}

TEST_CASE("without a file every value is a default") {
  const test::TemporaryFolder folder;
  const auto values = effective_values(folder.path() / "none.toml", false).value();
  CHECK(std::ranges::all_of(values, [](const auto& value) { return value.line == 0; }));
  CHECK(effective_values(folder.path() / "none.toml", true).error().code == ErrorCode::not_found);
}

TEST_CASE("names and passwords in addresses are not shown") {
  const test::TemporaryFolder folder;
  const auto file = folder.write(
      "torchwatch.toml", "[source]\nrepository = \"https://ada:geheim@git.example/pytorch@2\"\n");
  CHECK(value_of(effective_values(file, true).value(), "source", "repository").value ==
        "\"https://[redacted]@git.example/pytorch@2\"");
}

TEST_CASE("every key that names the file of a secret is known as one") {
  const test::TemporaryFolder folder;
  const auto count = [&](const std::string& text) {
    const auto config = load(folder.write("torchwatch.toml", text), true);
    if (!config) FAIL(config.error().text());
    return std::ranges::count_if(secret_files(*config),
                                 [](const auto& file) { return file.filename() == "secret"; });
  };
  int keys_of_files = 0;
  for (const auto& key : keys()) {
    if (!key.name.ends_with("_file")) continue;
    ++keys_of_files;
    CAPTURE(key.table, key.name);
    CHECK(count("[" + key.table + "]\n" + key.name + " = \"secret\"\n") == 1);
  }
  CHECK(keys_of_files == 5);
  CHECK(count("[[notify.webhook]]\nname = \"chat\"\nurl = \"https://chat.example/hook\"\n"
              "secret_file = \"secret\"\n") == 1);
}
