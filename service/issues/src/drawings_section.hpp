#pragma once

#include <string>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// Makes the part of the issue that shows what it rests on: the picture, where strangers reach it,
/// and the same as text, which mail and terminals show, too. Empty where nothing is drawn.
std::string drawings_section(const Drawings&);

}  // namespace torchwatch::report
