#pragma once

#include "torchwatch/report/facts.hpp"

/// A comparison with two slower series and a culprit, as a day of the demonstration has it.
torchwatch::report::IncidentFacts slower_comparison();
/// The same with the search's answer exchanged for several commits, or for none.
/// Two commits named, and the suspects of a third cause.
torchwatch::report::IncidentFacts slower_comparison_with_two_culprits();
/// One of two commits made +14 %, nobody knows which, and a third, which is named, +4 %.
torchwatch::report::IncidentFacts slower_comparison_with_a_larger_cause_undecided();
torchwatch::report::IncidentFacts leaking_comparison();
torchwatch::report::IncidentFacts lost_comparison();
/// Everything that others can write into it is written against the reader.
torchwatch::report::IncidentFacts hostile_comparison();
