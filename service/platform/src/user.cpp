#include "torchwatch/platform/user.hpp"

#include <pwd.h>

#include <array>

#include "torchwatch/records/asker.hpp"

namespace torchwatch::platform {

std::string user_name(uid_t user) {
  // Far more than a name, a folder and a shell need; a longer entry counts as no name.
  std::array<char, 16'384> text{};
  passwd entry{};
  passwd* found = nullptr;
  const bool is_named =
      getpwuid_r(user, &entry, text.data(), text.size(), &found) == 0 && found != nullptr;
  if (is_named && entry.pw_name != nullptr && *entry.pw_name != '\0') return entry.pw_name;
  return name_of_user(user);
}

}  // namespace torchwatch::platform
