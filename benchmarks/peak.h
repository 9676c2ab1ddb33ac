// What this machine's multipliers can do at most, as the measure of what a kernel reaches.
#pragma once

namespace whyformer {

// Billions of single-precision operations per second (a multiply-add counts as two) when all
// threads multiply and add in registers only. Takes about 0.3 s.
double measure_peak_gflops();

}  // namespace whyformer
