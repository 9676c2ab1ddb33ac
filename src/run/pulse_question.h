// Asking the caller's Progress from deep inside, before there is anything to report.
#pragma once

#include <functional>

#include "base/pulse.h"
#include "whyformer/model.h"

namespace whyformer {

// For a PulseScope. `progress` must outlive it; empty where there is nobody to ask.
inline std::function<bool()> pulse_question(const Progress& progress) {
  if (!progress) return {};
  return [&progress] { return progress(0, 1); };
}

}  // namespace whyformer
