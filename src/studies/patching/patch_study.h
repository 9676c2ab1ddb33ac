// What all analyses by patching share: reading inputs, the metric, progress, and the report.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readers/reader.h"
#include "studies/patching/patched_run.h"
#include "whyformer/patching.h"

namespace whyformer {

class PatchStudy {
 public:
  // Reads and runs the input. Throws InvalidInput for one of several parts or streams.
  PatchStudy(const Reader& reader, const InputValue& value, const PatchRequest& request,
             std::string analysis);

  const PatchedRun& clean() const { return *clean_; }
  const AnswerMetric& metric() const { return *metric_; }
  const std::vector<Unit>& units() const { return report.clean.units; }
  // Another input of the same model; it becomes the report's corrupted one.
  std::unique_ptr<PatchedRun> read_corrupted(const InputValue& value);
  // The clean input with other numbers entering.
  std::unique_ptr<PatchedRun> with_entering(ValuesByName entering) const;

  // For all work of the study, in whole forwards: what is to come, and what was made of it.
  void expect(double forwards) { total_ += forwards; }
  RunsMade counter();
  // Does the work; where the user stops it, what is there stays, or Interrupted goes on.
  void stop() { report.stopped_early = true; }

  PatchReport finish();

  PatchReport report;

 private:
  Input read(const InputValue& value, Explanation& shown);

  const Reader& reader_;
  const PatchRequest& request_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Problem> problem_;
  InputValue value_;
  std::unique_ptr<PatchedRun> clean_;
  std::unique_ptr<AnswerMetric> metric_;
  double made_ = 0, total_ = 0;  // whole forwards
};

// One analysis each, a file each.
PatchReport study_patches(const Reader& reader, const InputValue& clean,
                          const InputValue& corrupted, const PatchRequest& request);
PatchReport study_causes(const Reader& reader, const InputValue& clean, const NoiseRequest& noise,
                         const PatchRequest& request);
PatchReport study_ablations(const Reader& reader, const InputValue& input, HeadAblation ablation,
                            const PatchRequest& request);
PatchReport study_lens(const Reader& reader, const InputValue& input, const PatchRequest& request);
PatchReport study_paths(const Reader& reader, const InputValue& clean, const InputValue& corrupted,
                        const PathReceiver& receiver, const PatchRequest& request);

}  // namespace whyformer
