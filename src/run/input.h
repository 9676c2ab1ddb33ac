// One thing to explain: named tensors, cut into parts of units, and the source that runs them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/answer_memo.h"
#include "run/part.h"

namespace whyformer {

// Why there are no attention maps of a model that has none.
inline constexpr const char* kNoAttention = "no attention was found in this model";

struct UnitRange {
  int64_t first = 0;
  int64_t count = 0;
};

// What a reader says about an input.
struct InputFacts {
  std::shared_ptr<const GraphSource> source;
  RunKind kind;
  Sample sample;  // the input itself
  int64_t max_at_once = GraphSource::kAnyNumber;
  // What keeps attention maps from having a row and a column for each unit; empty where they have.
  std::string why_no_maps = {};
  // Units that are tokens, which attention goes over; they come first. -1: all of them.
  int64_t tokens = -1;
  std::string beside_tokens = {};  // what the others are: "numerical columns"
  // The unit of each token, where some units are several of them, as columns of a table that were
  // encoded as several numbers; empty: token i is unit i.
  std::vector<int64_t> unit_of_token = {};
  // Units of each token stream of the model, where it has several.
  std::vector<UnitRange> streams = {};
  // Rows of a table that hidden columns are taken from have weights, which sum to 1; other inputs
  // have one way to hide a unit.
  std::vector<double> background_weights = {1.0};
  // Units of the input that enter the model where no gradient is taken: they have no score there.
  std::vector<int64_t> out_of_reach = {};
  // Units that no method can hide: hiding gives them no score.
  std::vector<int64_t> never_hidden = {};
  // The answer is one element of an output: nothing else of it was asked for.
  bool of_element = false;
  double scale = 1;  // of the cosine, where several parts are compared by their vectors
};

class Input {
 public:
  Input(InputFacts facts, std::vector<std::unique_ptr<const Part>> parts);

  const RunKind& kind() const { return facts_.kind; }
  const GraphSource& source() const { return *facts_.source; }
  const Sample& sample() const { return facts_.sample; }
  SampleShapes sample_shapes() const;
  const std::vector<std::unique_ptr<const Part>>& parts() const { return parts_; }
  const std::vector<bool>& special() const { return special_; }
  int64_t units() const { return static_cast<int64_t>(special_.size()); }
  int64_t tokens() const { return facts_.tokens < 0 ? units() : facts_.tokens; }
  const std::string& beside_tokens() const { return facts_.beside_tokens; }
  const std::vector<UnitRange>& streams() const { return facts_.streams; }
  bool of_element() const { return facts_.of_element; }
  // Whether attention maps go over tokens of units, and whether each of these is one token.
  bool has_maps() const { return facts_.why_no_maps.empty(); }
  bool attends_by_unit() const { return has_maps() && facts_.unit_of_token.empty(); }
  const std::vector<int64_t>& unit_of_token() const { return facts_.unit_of_token; }
  const std::string& why_no_maps() const { return facts_.why_no_maps; }
  const std::vector<double>& background_weights() const { return facts_.background_weights; }
  const std::vector<int64_t>& out_of_reach() const { return facts_.out_of_reach; }
  const std::vector<int64_t>& never_hidden() const { return facts_.never_hidden; }
  int64_t max_at_once() const { return facts_.max_at_once; }

  // So many copies of the input.
  FedGraph copies(int64_t count) const;
  // The input with some of its units hidden; see Part::hiding. A way that only one of several parts
  // knows leaves the others their default.
  Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                 std::optional<int64_t> background = {}) const;
  Variant hiding_cells(const std::vector<bool>& hidden, const std::string& how) const;
  FedGraph run_of(std::span<const Variant> inputs) const;

  std::vector<int64_t> players() const;
  std::vector<bool> can_hide(const std::string& how) const;
  // The trees of the parts, joined at the root.
  PlayerTree player_tree() const;
  Cells cells() const;
  // The mean of each unit's cells; 0 for units without.
  std::vector<double> unit_means(const std::vector<double>& cells) const;

  // Parts below each other; shorter rows end with zeros.
  Tensor rows(Depth depth, const std::vector<Tensor>& values) const;
  std::vector<Tensor> from_rows(Depth depth, const Tensor& rows) const;
  std::vector<double> ranges(Depth depth, const Tensor& rows) const;
  std::optional<Tensor> pixel_channels(const Tensor& rows) const;

  // `name` is "auto" or one that a part knows.
  Tensor baseline(Depth depth, const std::string& name) const;
  // What is taken where a baseline, or a way to hide, of this name is asked for.
  std::string baseline_taken(const std::string& name) const;
  std::string hiding_taken(const std::string& how) const;
  // What an option's word says to one part: its own default, where only another part knows it.
  std::string word_for(const Part& part, const std::string& word) const;

 private:
  bool is_one_part() const { return parts_.size() == 1; }
  // Cells below units are those of a part that is alone.
  const PartCells* own_cells() const { return is_one_part() ? parts_[0]->as_cells() : nullptr; }
  std::string taken(const std::string& word, std::string PartTraits::*fallback) const;
  // One entry per part.
  template <class T>
  std::vector<std::vector<T>> by_part(const std::vector<T>& by_unit) const;
  std::vector<int64_t> row_widths(Depth depth) const;
  std::vector<std::vector<double>> vectors_of(size_t part,
                                              const std::vector<Variant>& variants) const;
  FedGraph compared(std::span<const Variant> inputs) const;

  InputFacts facts_;
  std::vector<std::unique_ptr<const Part>> parts_;
  std::vector<bool> special_;
  mutable std::vector<AnswerMemo> vectors_;  // of variants of each part, where several are compared
};

}  // namespace whyformer
