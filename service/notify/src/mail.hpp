#pragma once

#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::notify {

/// Makes a mail of a message (RFC 5322, plain text in quoted-printable): its title is the subject.
/// Whatever stands in the message, it is in no other header than that, and the text ends no mail.
std::string make_mail(const config::Config::Notify::Mail&, const storage::OutboxRow&,
                      platform::WallMillis now);

}  // namespace torchwatch::notify
