#pragma once

#include <string>

/// Compares `text` with tests/golden/`name`; with TORCHWATCH_ACCEPT_GOLDEN=1 in the environment
/// writes it there instead.
void require_golden(const std::string& name, const std::string& text);
