#include "login.hpp"

#include <algorithm>
#include <cctype>

namespace torchwatch::triage {

std::string login_of(std::string_view author_email) {
  constexpr std::string_view kServer = "@users.noreply.github.com";
  if (!author_email.ends_with(kServer)) return "";
  auto login = author_email.substr(0, author_email.size() - kServer.size());
  const auto plus = login.find('+');
  if (plus != std::string_view::npos) login.remove_prefix(plus + 1);
  const bool is_login = std::ranges::all_of(
      login, [](unsigned char byte) { return std::isalnum(byte) != 0 || byte == '-'; });
  return is_login ? std::string(login) : "";
}

}  // namespace torchwatch::triage
