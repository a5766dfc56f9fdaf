#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::pictures {

enum class Shown { samples, memory, history, changes, steps };

/// A drawing with its forms, which are made when they are asked for.
struct Drawn {
  Shown what = Shown::samples;
  std::string name = {};      ///< "samples-1": of its file and its ids, once in a list
  std::string sentence = {};  ///< says what it shows
  std::optional<Series> series = {};
  drawing::Table table = {};
  std::function<std::string()> svg = {};         ///< alone
  std::function<std::string()> responsive = {};  ///< both widths, for a page
  std::function<std::string(int columns)> text = {};
};

/// Makes the steps of a bisection, as bisection::trace_of does.
using StepsOf = std::function<Result<std::vector<report::TraceStep>>(const storage::BisectionRow&)>;

/// Returns the effects of an incident's series, the largest first: each from the verdict of the
/// comparison that found it, or from what the incident keeps where there is none. Errors: those of
/// storage.
Result<std::vector<report::EffectFacts>> effects_of(storage::Database&,
                                                    const storage::IncidentRow&);

/// Returns the drawings of an incident in the order in which they are shown: of the two largest
/// changes the samples and, of memory, the levels; the past of the largest; the twenty largest
/// changes, where there are several; the steps of the search, if there was one and `steps_of` is
/// given. What there is nothing to draw of is left out. Errors: those of storage.
Result<std::vector<Drawn>> drawings_of(const evidence::Context&, const storage::IncidentRow&,
                                       const StepsOf& steps_of = {});

/// Returns what drawings are read from, with confidence and threshold as configured and no links.
evidence::Context context_of(storage::Database&, const config::Config&, bool is_trusted);

/// Makes the same as texts of that many columns.
std::vector<std::string> texts_of(const std::vector<Drawn>&, int columns);

}  // namespace torchwatch::pictures
