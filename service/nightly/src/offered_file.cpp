#include "offered_file.hpp"

#include "torchwatch/channel/fingerprint.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::nightly {

using channel::Offer;
using storage::BuildRow;

bool is_known(const BuildRow& row, const Offer& offer, const std::string& manner,
              const Error& error) {
  return row.state == storage::BuildState::rejected &&
         channel::is_same_file(row.fingerprint, offer.fingerprint) &&
         channel::was_refused_so(row.fingerprint, manner) && row.reason == printable(error.text());
}

bool is_replaced(const BuildRow& row, const Offer& offer) {
  return !row.fingerprint.empty() && !channel::is_same_file(row.fingerprint, offer.fingerprint);
}

bool stays_rejected(const BuildRow& row, const Offer& offer, const std::string& manner) {
  return row.state == storage::BuildState::rejected && !offer.fingerprint.empty() &&
         channel::is_same_file(row.fingerprint, offer.fingerprint) &&
         channel::was_refused_so(row.fingerprint, manner);
}

}  // namespace torchwatch::nightly
