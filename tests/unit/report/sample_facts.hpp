#pragma once

#include "torchwatch/report/facts.hpp"

/// A night with two slower series and a culprit, as a day of the demonstration has it.
torchwatch::report::IncidentFacts slower_night();
/// The same with the search's answer exchanged for several commits, or for none.
torchwatch::report::IncidentFacts slower_night_undecided();
torchwatch::report::IncidentFacts slower_night_not_reproduced();
/// Two commits named, and the suspects of a third cause.
torchwatch::report::IncidentFacts slower_night_with_two_culprits();
torchwatch::report::IncidentFacts leaking_night();
torchwatch::report::IncidentFacts lost_night();
/// Everything that others can write into it is written against the reader.
torchwatch::report::IncidentFacts hostile_night();
