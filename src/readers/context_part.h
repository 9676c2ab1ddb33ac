// The rows that an explained one attends to, as units: itself, then its context.
#pragma once

#include "models/row_source.h"
#include "readers/row_contexts.h"
#include "run/part.h"

namespace whyformer {

class ContextPart final : public Part, public PartEntrance {
 public:
  // `sources` are those of the context that is seen; `row` is the explained one.
  ContextPart(RowsExplained sources, Sample row, const RowsSeen& seen, std::string told,
              RunKind kind);

  // What rows with the same answer of their own count together, where their answers are told; else
  // empty. `scores` has one for each unit.
  std::string by_answer(const std::vector<double>& scores) const;

  // The explained row with nobody left out.
  Sample sample() const { return sample_of(std::vector<bool>(units_.size(), false)); }

  const PartTraits& traits() const override;
  const std::vector<Unit>& units() const override { return units_; }
  std::vector<int64_t> players() const override;  // all but the row itself
  PlayerTree player_tree() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  // Rows that are left out are seen by nobody.
  Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                 std::optional<int64_t> background) const override;
  FedGraph run_of(std::span<const Variant> inputs) const override;
  const PartEntrance& entrance() const override { return *this; }
  // The mean of the context's rows, or "zero".
  Tensor baseline(Depth depth, const std::string& name) const override;

 private:
  Sample sample_of(const std::vector<bool>& hidden) const;

  RowsExplained sources_;
  Sample row_;
  RunKind kind_;
  std::vector<Unit> units_;
  std::vector<std::string> answers_;  // of the rows behind the first unit; empty: not told
};

// The part as one of rows of a context; null where it is another.
const ContextPart* as_context(const Part& part);

}  // namespace whyformer
