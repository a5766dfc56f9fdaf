#include "tables.hpp"

namespace torchwatch::config {
namespace {

template <typename Element>
bool has_same_name(const Element& one, const Element& other) {
  return one.name == other.name;
}

}  // namespace

void add_notices(std::vector<Key>& table) {
  using C = Config;
  using Webhook = C::Notify::Webhook;
  using Mail = C::Notify::Mail;
  const Fields<Webhook> webhook{
      field("name", &Webhook::name, plain_name()), field("url", &Webhook::url, private_address()),
      field("secret_file", &Webhook::secret_file, filled<std::filesystem::path>()),
      field("events", &Webhook::events, events(), Need::optional)};
  const Fields<Mail> mail{field("name", &Mail::name, plain_name()),
                          field("to", &Mail::to, mail_addresses()),
                          field("from", &Mail::from, mail_address()),
                          field("events", &Mail::events, events(), Need::optional)};
  table.push_back(list_of_tables("notify", "webhook", &C::notify, &C::Notify::webhooks, webhook,
                                 "Services that get a signed POST of each event.",
                                 {.is_alike = has_same_name<Webhook>}));
  table.push_back(list_of_tables("notify", "mail", &C::notify, &C::Notify::mails, mail,
                                 "Who gets a mail of each event.",
                                 {.is_alike = has_same_name<Mail>}));
  table.push_back(key("notify", "sendmail", &C::notify, &C::Notify::sendmail,
                      filled<std::filesystem::path>(),
                      "The program that takes mails, called as sendmail is."));
}

}  // namespace torchwatch::config
