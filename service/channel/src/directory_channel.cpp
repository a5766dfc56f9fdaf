#include <algorithm>
#include <system_error>

#include "torchwatch/channel/channel.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

/// build-hash is written last, so it tells that a tree is complete.
bool is_complete(const fs::path& build) { return fs::is_regular_file(build / "build-hash"); }

class DirectoryChannel final : public Channel {
 public:
  explicit DirectoryChannel(fs::path folder) : folder_(std::move(folder)) {}

  Result<std::vector<std::string>> list(std::stop_token) override {
    std::error_code error;
    fs::directory_iterator entries(folder_, error);
    if (error) {
      return fail(ErrorCode::not_found, "[channel] path " + folder_.string() + ": " +
                                            error.message() +
                                            "; it must be a folder with one build in each folder");
    }
    std::vector<std::string> names;
    for (const auto& entry : entries) {
      if (is_complete(entry.path())) names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  Result<builds::Tree> fetch(const std::string& name, std::stop_token) override {
    const auto build = folder_ / name;
    const bool is_plain = fs::path(name).filename() == name && name != "." && name != "..";
    if (!is_plain || !is_complete(build)) {
      return fail(ErrorCode::not_found,
                  "no complete build \"" + name + "\" in " + folder_.string());
    }
    return builds::inspect(build);
  }

 private:
  fs::path folder_;
};

}  // namespace

std::unique_ptr<Channel> make_directory_channel(std::filesystem::path folder) {
  return std::make_unique<DirectoryChannel>(std::move(folder));
}

}  // namespace torchwatch::channel
