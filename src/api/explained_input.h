// One input with the methods that explain it: what explain(), evaluation and studies of methods
// share.
#pragma once

#include <optional>
#include <vector>

#include "api/prepare.h"
#include "methods/jobs.h"

namespace whyformer {

// Whether several parts need a run together that no method asks for, to hide units in all of them.
enum class WholeRun { kNo, kYes };

class ExplainedInput {
 public:
  // Reads and runs the input, with other weights than the model's own where a randomisation says
  // so. The request must outlive this. Throws what explain() throws, and UnsupportedModel where the
  // weights cannot be replaced.
  ExplainedInput(const Model& model, const InputValue& input, const ExplainRequest& request,
                 WholeRun whole, const std::optional<Randomisation>& randomisation = std::nullopt);

  // The same for what was read already, and runs that are made in another way.
  ExplainedInput(const Model& model, Reading reading, const ExplainRequest& request, WholeRun whole,
                 const MakeRun& make_run);

  std::vector<int64_t> targets() const { return targets_of(prepared_, request_); }
  // Of a row in a context: what the model answers there and elsewhere; its answer is the live one.
  void look_at_context();
  const std::vector<std::string>& labels() const { return prepared_.common.output.labels; }
  // Throws InvalidInput where there is no such output.
  int64_t target_named(const TargetChoice& name) const;
  // Runs the methods. Throws Interrupted where the caller stops it before the first has scores.
  Explanation explain(int64_t target);
  // What will be explained first, so that runs of a batch walk back together.
  void choose_first_target() { choose_target(prepared_, targets()[0]); }
  bool was_stopped() const;
  // False where the caller wants to stop.
  bool goes_on() { return prepared_.run().goes_on(0, 1); }

  // The run of all parts.
  Run& whole();
  // Scores of an attribution's method for what enters the run now; nothing for methods that hide
  // units instead of reading what enters, and for several parts.
  std::optional<std::vector<double>> scores_again(const Explanation& explanation, size_t index);

 private:
  Attribution run(const Job& job);

  const ExplainRequest& request_;
  std::vector<Job> jobs_;
  Prepared prepared_;
};

// What explain() gives of it.
std::vector<Explanation> explanations_of(ExplainedInput& explained, const ExplainRequest& request);

}  // namespace whyformer
