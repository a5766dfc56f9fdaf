#pragma once

#include "torchwatch/http/router.hpp"
#include "torchwatch/site/sources.hpp"

namespace torchwatch::pages {

/// Answers /incidents/{id}/evidence.svg: an incident's evidence as a file that other sites show.
/// Everybody sees what a stranger may. ?v= is the hash of the content that is asked for; only where
/// it is still the present one the answer may be kept. Errors: not_found, also for an incident of
/// which nothing can be drawn; invalid (another parameter); those of storage.
Result<http::Reply> get_evidence_picture(const http::Request&, const Sources&);

}  // namespace torchwatch::pages
