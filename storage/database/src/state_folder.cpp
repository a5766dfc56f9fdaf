#include "state_folder.hpp"

#include "query.hpp"

namespace torchwatch::storage {

namespace fs = std::filesystem;

std::string stored_path(const Connection& connection, const std::string& path) {
  if (path.empty()) return path;
  const auto below = true_path(path).lexically_relative(connection.path.parent_path());
  const bool is_outside = below.empty() || *below.begin() == "..";
  return is_outside ? path : below.string();
}

std::string path_of(const Connection& connection, const std::string& stored) {
  if (stored.empty() || fs::path(stored).is_absolute()) return stored;
  return (connection.path.parent_path() / stored).string();
}

void make_paths_relative(Connection& connection) {
  const auto prefix = connection.path.parent_path().string() + "/";
  execute(connection,
          "UPDATE build SET folder = substr(folder, length(?1) + 1) "
          "WHERE substr(folder, 1, length(?1)) = ?1",
          prefix);
}

}  // namespace torchwatch::storage
