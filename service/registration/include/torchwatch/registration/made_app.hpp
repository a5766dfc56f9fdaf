#pragma once

#include <filesystem>
#include <string>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::registration {

/// An App that GitHub made.
struct MadeApp {
  std::int64_t id = 0;
  std::string slug;            ///< letters, digits, hyphens
  std::string key;             ///< PEM
  std::string webhook_secret;  ///< empty: it has no webhook
};

/// Changes the code of GitHub's answer into the App; GitHub takes each code once, within an hour.
/// Errors: those of the way to GitHub; corrupt, where the answer lacks something.
Result<MadeApp> fetch_app(platform::HttpClient&, const platform::Clock&, const std::string& api,
                          const std::string& code);

/// Where the parts of an App lie.
struct AppFiles {
  explicit AppFiles(const std::filesystem::path& folder);
  std::filesystem::path key;
  std::filesystem::path webhook_secret;
  std::filesystem::path state;  ///< of a question that was printed
};

/// Makes the folder (0700), or takes one that is there. Errors: conflict, if an App lies in it;
/// unavailable.
Status prepare_folder(const std::filesystem::path& folder);

/// Writes a new file with mode 0600. Errors: conflict, if there is one; unavailable.
Status write_secret(const std::filesystem::path& file, const std::string& text);

/// Stores key and webhook secret in a prepared folder.
Status store(const MadeApp&, const std::filesystem::path& folder);

}  // namespace torchwatch::registration
