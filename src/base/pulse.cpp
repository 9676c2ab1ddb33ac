#include "base/pulse.h"

#include <utility>

#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

thread_local PulseScope* innermost_scope = nullptr;

}  // namespace

PulseScope::PulseScope(std::function<bool()> goes_on, std::chrono::milliseconds between)
    : goes_on_(std::move(goes_on)),
      between_(between),
      outer_(innermost_scope),
      asked_(Clock::now()) {
  if (goes_on_) innermost_scope = this;
}

PulseScope::~PulseScope() { innermost_scope = outer_; }

void pulse() {
  PulseScope* const scope = innermost_scope;
  if (scope == nullptr) return;
  const auto now = Clock::now();
  if (now - scope->asked_ < scope->between_) return;
  const bool goes_on = scope->goes_on_();
  scope->asked_ = Clock::now();
  if (!goes_on) throw Interrupted();
}

}  // namespace whyformer
