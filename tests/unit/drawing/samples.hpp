#pragma once

#include "torchwatch/drawing/evidence.hpp"
#include "torchwatch/drawing/history.hpp"
#include "torchwatch/drawing/nightly.hpp"
#include "torchwatch/drawing/posterior.hpp"
#include "torchwatch/drawing/probes.hpp"

// One drawing of each kind, as a comparison with a regression gives it.

torchwatch::drawing::SampleStrips sample_strips();
torchwatch::drawing::ForestPlot sample_forest();
/// One without verdicts, with a mean.
torchwatch::drawing::ForestPlot sample_differences();
torchwatch::drawing::MemoryLevels sample_memory();
torchwatch::drawing::History sample_history();
/// The same on a logarithmic axis, with a drift reference and a point that is three times as high.
torchwatch::drawing::History sample_logarithmic();
torchwatch::drawing::PosteriorSteps sample_posterior();
torchwatch::drawing::ProbeStrips sample_probes();
torchwatch::drawing::HeatMap sample_heat_map();
torchwatch::drawing::SmallMultiples sample_multiples();
torchwatch::drawing::DeviceShares sample_shares();
