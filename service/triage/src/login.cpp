#include "login.hpp"

#include <algorithm>
#include <cctype>

#include "torchwatch/bisection/early_end.hpp"

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

std::string without_asker(const std::string& given) {
  const bool is_kept = given.ends_with(bisection::kConfirmedBefore);
  const auto behind = std::string(is_kept ? bisection::kConfirmedBefore : "");
  const auto text = given.substr(0, given.size() - behind.size());
  constexpr std::string_view kCancelled = "cancelled by ";
  const auto begin = text.starts_with(kCancelled) ? kCancelled.size() : 0;
  const auto who = std::string_view(text).substr(begin);
  constexpr std::string_view kUser = "uid ";
  const bool is_user = who.starts_with(kUser) && who.size() > kUser.size() &&
                       who.find_first_not_of("0123456789", kUser.size()) == who.npos;
  if (is_user) return text.substr(0, begin) + "somebody on the machine" + behind;
  const bool is_token = begin > 0 && who.starts_with("token ");
  return is_token ? text.substr(0, begin) + "somebody with a token" + behind : given;
}

}  // namespace torchwatch::triage
