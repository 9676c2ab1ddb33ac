// The run of one input: what all methods of a call share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "relevance/relevance_walk.h"
#include "run/answer_memo.h"
#include "run/input.h"
#include "run/needs.h"
#include "run/output_space.h"
#include "run/run_batch.h"
#include "whyformer/model.h"

namespace whyformer {

class Run {
 public:
  struct Settings {
    std::optional<Problem> problem = {};  // that a classifier solves
    Needs needs = {};
    std::optional<ReadOut> read_out = {};  // instead of what discovery found
    int64_t seed = 0;
    int64_t memory_bytes = 0;
    Progress progress = {};
  };
  Run(Input input, Settings settings);
  // One of a batch's, which was made for the same needs.
  Run(Input input, Settings settings, std::shared_ptr<RunBatch> batch, int64_t number);

  const Input& input() const { return input_; }
  int64_t tokens() const { return input_.tokens(); }
  int64_t seed() const { return settings_.seed; }

  // The answers of the shared run. The target must be set before gradients are read.
  const std::vector<double>& outputs() const { return outputs_; }
  void set_target(int64_t index);
  int64_t target() const { return target_; }
  double target_value() const { return outputs_[target_]; }

  // Whether attention goes between several streams of tokens, and which units are those of one.
  bool several_streams() const { return !input_.streams().empty(); }
  // Throws InvalidInput where there are several; `method` is what has no meaning there, and `why`.
  void require_one_stream(const std::string& method, const std::string& why) const;

  int layers() const { return static_cast<int>(graph_->found.sites.size()); }
  const Discovery& found() const { return graph_->found; }
  // The run itself; every value of it only where Needs::values says so.
  const ModelGraph& graph() const { return *graph_; }
  const Pass& pass() const { return *pass_; }
  // Throws InvalidInput where attention maps do not go over the units or their tokens; or where
  // units are several tokens, for what needs a row of the maps for each unit.
  void require_maps() const;
  void require_maps_of_units() const;
  // [heads, tokens, tokens] of the streams of queries and of keys, contiguous: where only some
  // tokens ask, the others' rows are 0; keys that are no tokens are left out.
  Tensor attention(int layer) const;
  Tensor attention_gradient(int layer);
  // [units, numbers].
  Tensor embeddings(Depth depth) const;
  Tensor embedding_gradient(Depth depth);

  // Relevance at an attention map [heads, queries, keys], or at a depth [tokens, width]. One walk
  // for each policy and form; needs Needs::values.
  struct RelevanceKind {
    std::string policy;  // a name, or the path of a JSON file
    RelevanceForm form = RelevanceForm::kExplicit;
    RelevanceWalk::Notes notes = RelevanceWalk::Notes::kNone;
    auto operator<=>(const RelevanceKind&) const = default;
  };
  Tensor attention_relevance(const RelevanceKind& kind, int layer);
  Tensor embedding_relevance(const RelevanceKind& kind, Depth depth);
  // What must be told about a policy that a file holds, once it was walked by.
  std::vector<std::string> policy_notes(const std::string& policy) const;
  // What passed each node down to the word embeddings, output first; `kind` must say that it notes.
  const std::vector<NodeFlow>& relevance_flows(const RelevanceKind& kind);

  // Share of each token row in the read-out: 1 at [CLS], or 1/n each for mean pooling. Where the
  // graph does not tell, by the size of the outputs' gradient at each row.
  std::vector<double> read_out() const;
  // Whether the graph, or the caller, tells it.
  bool read_out_is_known() const { return found_read_out().kind != ReadOut::Kind::kUnknown; }
  // The one row that is read, if it is one.
  std::optional<int64_t> read_out_row() const;

  // Outputs for inputs made from the explained one, [input][output]. Equal inputs run once, also
  // over all methods of the call; those of one length run together, in batches that fit the memory.
  enum class Report { kNo, kYes };
  std::vector<std::vector<double>> answers(const std::vector<Variant>& inputs,
                                           Report report = Report::kYes);
  int64_t most_inputs_at_once() const;

  // The target's value in that space. Throws InvalidInput where the model has no probabilities.
  double in_space(OutputSpace space, const std::vector<double>& outputs) const;
  bool has_probabilities() const;
  bool labels_exclude_each_other() const {
    return settings_.problem == Problem::kSingleLabel || settings_.problem == Problem::kOneLogit;
  }

  // Target value and its gradient at a depth when that value is replaced; one entry per
  // replacement.
  struct Slope {
    double value = 0;
    Tensor gradient;  // [units, numbers]
  };
  std::vector<Slope> slopes(Depth depth, const std::vector<Tensor>& replacements);
  // The same for replacements that are made when their turn comes; `take` gets them in order, with
  // their slopes. Returns how many it got before the caller stopped it.
  using MakeReplacement = std::function<Tensor(int64_t number)>;
  using TakeSlope =
      std::function<void(int64_t number, const Tensor& replacement, const Slope& slope)>;
  int64_t each_slope(Depth depth, int64_t count, const MakeReplacement& make,
                     const TakeSlope& take);

  // False where the caller wants to stop.
  bool goes_on(int64_t done, int64_t total) const;
  // For a PulseScope: the same with what was done last. Empty where there is nobody to ask.
  std::function<bool()> pulse_question() const;
  // Whether the caller has said so.
  bool stopped() const { return stopped_; }
  // Throws Interrupted there.
  void report_progress(int64_t done, int64_t total) const;

  // What enters the model, as rows; nothing where ids enter whose vectors were not recognised.
  std::optional<Tensor> entering() const;
  // The shared run again with other values where the input enters, as rows; and the input's
  // own again. Inputs with something hidden stay as they are.
  void enter(const Tensor& rows);
  void enter_own() noexcept;

  // Runs and walks beyond the shared ones.
  const Cost& spent() const { return spent_; }
  // Shared walks that were read since the last call of forget_walks_read.
  int walks_read() const { return static_cast<int>(walks_read_.size()); }
  void forget_walks_read() {
    walks_read_.clear();
    read_input_ = false;
  }
  // Whether numbers, gradients or relevance of the input itself were read since then.
  bool read_input() const { return read_input_; }
  // Time of the shared run and of all shared walks so far, and of those read.
  double shared_seconds() const { return shared_seconds_; }
  double seconds_read() const;

 private:
  void run_shared(const Feeds& feeds);
  void leave_batch();
  std::optional<Tensor> gradient_of_batch(Value value);
  void forget_walks() noexcept;
  Tensor rows_at(Depth depth, const std::function<Tensor(Value)>& value_of) const;
  Tensor gradient_at(Value value);
  Tensor relevance_at(const RelevanceKind& kind, Value value);
  Tensor over_tokens(int layer, const Tensor& map) const;
  RelevanceWalk& relevance_walk(const RelevanceKind& kind);
  const ReadOut& found_read_out() const;
  std::vector<double> measured_read_out() const;

  Input input_;
  Settings settings_;
  std::shared_ptr<const ModelGraph> graph_;
  std::unique_ptr<const Pass> pass_;  // walks refer to it
  std::shared_ptr<RunBatch> batch_;   // null for a run of its own
  int64_t number_ = 0;                // in it
  // The input's own, while something else enters.
  std::unique_ptr<const Pass> own_pass_;
  std::vector<double> own_outputs_;
  std::unique_ptr<BackwardWalk> gradient_walk_;
  std::map<RelevanceKind, std::unique_ptr<RelevanceWalk>> relevance_walks_;
  std::map<std::string, std::vector<std::string>> policy_notes_;
  std::vector<double> outputs_;
  AnswerMemo memo_;
  mutable std::vector<double> measured_read_out_;  // empty until it is asked for
  int64_t target_ = 0;
  void count_walk(const void* walk, double seconds);

  // Inputs that can run together, each once.
  std::vector<std::vector<double>> answers_together(const std::vector<Variant>& batch);
  std::vector<Slope> slopes_at_once(Depth depth, const std::vector<Tensor>& replacements);

  mutable int64_t done_ = 0, total_ = 1;  // what progress was told last
  mutable bool stopped_ = false;
  double run_seconds_ = 0;
  std::map<const void*, double> walk_seconds_;
  std::set<const void*> walks_read_;
  mutable bool read_input_ = false;
  Cost spent_;
  double shared_seconds_ = 0;
};

}  // namespace whyformer
