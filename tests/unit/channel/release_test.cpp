#include "release.hpp"

#include <catch2/catch.hpp>

#include "pip.hpp"
#include "temporary_folder.hpp"

namespace torchwatch::channel {
namespace {

TEST_CASE("the package that supplies a small CUDA library follows from the library's name") {
  CHECK(package_of("libcudart.so.13") == "nvidia-cuda-runtime==13.*");
  CHECK(package_of("libcupti.so.13") == "nvidia-cuda-cupti==13.*");
  CHECK(package_of("libcudart.so.12") == "nvidia-cuda-runtime-cu12==12.*");
  CHECK(package_of("libcupti.so.12") == "nvidia-cuda-cupti-cu12==12.*");
  CHECK(package_of("libcudart.so.11.0") == "nvidia-cuda-runtime-cu11==11.*");
  CHECK(package_of("libcupti.so.11.7") == "nvidia-cuda-cupti-cu11==11.7.*");
  for (const char* other : {"libc10.so", "libcublas.so.13", "libcudart.so.", "libcudart.so.x"}) {
    CHECK_FALSE(package_of(other).has_value());
  }
}

TEST_CASE("a version is what an index writes, and nothing that could be a path or an option") {
  for (const char* good : {"2.12.1", "2.13.0+cpu", "2.15.0.dev20260816", "1!2.0", "2"}) {
    CHECK(is_version(good));
  }
  for (const std::string bad : {"", "..", "2..", "-r", "/etc", "2/3", "2.0 ", "v2.0", "2;ls"}) {
    CHECK_FALSE(is_version(bad));
  }
  CHECK_FALSE(is_version(std::string(100, '1')));
}

TEST_CASE("version.py is read without running it, with and without types") {
  const test::TemporaryFolder folder;
  const std::string sha(40, 'a');
  const std::string text = GENERATE_COPY(
      "from typing import Optional\n__all__ = ['__version__']\n__version__ = '2.13.0+cu130'\n"
      "debug = False\ncuda: Optional[str] = '13.0'\ngit_version = '" +
          sha + "'\nhip = None\n",
      "__version__: str = \"2.13.0+cu130\"\ngit_version: str = \"" + sha + "\"\n");
  const auto facts = read_version_file(folder.write("version.py", text));
  REQUIRE(facts.has_value());
  CHECK(facts->version == "2.13.0+cu130");
  CHECK(facts->commit == sha);
}

TEST_CASE("a version.py that names no version or no commit is damaged") {
  const test::TemporaryFolder folder;
  for (const char* text :
       {"", "__version__ = '2.0'\n", "git_version = 'abc'\n__version__='2.0'\n"}) {
    const auto facts = read_version_file(folder.write("version.py", text));
    REQUIRE_FALSE(facts.has_value());
    CHECK(facts.error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("versions are read from what pip prints") {
  CHECK(parse_versions("WARNING: pip index is currently an experimental command.\n"
                       "torch (2.15.0)\nAvailable versions: 2.15.0, 2.14.1, 1.13.1\n"
                       "  INSTALLED: 2.13.0\n") ==
        std::vector<std::string>{"2.15.0", "2.14.1", "1.13.1"});
  CHECK(parse_versions("ERROR: nothing\n").empty());
}

}  // namespace
}  // namespace torchwatch::channel
