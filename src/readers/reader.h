// From what a user gives to what runs: one reader for each kind of input that a model takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/column_source.h"
#include "run/concept_inputs.h"
#include "run/input.h"
#include "whyformer/error.h"
#include "whyformer/model.h"
#include "whyformer/tables.h"

namespace whyformer {

// What is asked of a model about its inputs.
struct Question {
  std::optional<std::string> similar_to = {};
  DType dtype = DType::kFloat32;
  // Of arrays: the element that is explained, and what stands in for hidden tokens.
  TargetChoice target = {};
  std::optional<int64_t> hiding_id = {};
  std::optional<Randomisation> randomisation = {};  // of the model's weights
  std::shared_ptr<const AppliedEdits> edits = {};   // of values inside the model
  bool all_rows = false;                            // values inside are asked for
  // Whether an answer is explained: attention maps do without.
  bool needs_answer = true;
  bool by_rows = false;  // units are rows of a context
};

// Which answers of a model are looked at, and what they are called.
struct Answered {
  RunKind kind = {};
  std::optional<Problem> problem = {};   // that a classifier solves
  std::string space = {};                // as in Output
  std::vector<std::string> labels = {};  // as in Output
  std::vector<std::string> notes = {};   // on the model's head and on the text to compare with
};

// An input that was read.
struct Reading {
  std::vector<Input> inputs;  // one, or the parts of it by themselves and then together
  Answered answered;
  // What explanations show of it: text, pair, picture, units, streams, read-out.
  Explanation shown = {};
  std::vector<std::string> notes = {};        // e.g. that the text was truncated
  std::vector<std::string> entry_notes = {};  // for methods that read numbers of the input
  // Of arrays: the element among the run's answers, which is the only one that is told; and what
  // throws InvalidInput where its value shows that the arrays were not understood.
  std::optional<int64_t> element = {};
  std::function<void(double value)> check_element = {};
  bool by_rows = false;  // as was asked
  // Of a row in a context: what the model answers there and elsewhere.
  std::function<ContextFacts()> context = {};
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual const GraphSource& source() const = 0;
  virtual const SourceFacts& facts() const { return source().facts(); }
  virtual bool takes(const InputValue& value) const = 0;
  // Throws the reason where it is known why the model does not take the value.
  virtual void tell_why_not(const InputValue& /*value*/) const {}
  // What it reads, for messages: "texts"; and how to put right that something else was given.
  virtual std::string what() const = 0;
  virtual Remedy remedy() const = 0;
  // The numbers of its file or folder, and what was found in the graph for small inputs.
  virtual ModelInfo info() const = 0;

  // Throws InvalidInput where the model has no such answers. The input may tell how many there are,
  // as the columns of a row do.
  virtual Answered answered(const InputValue& value, const Question& question) const = 0;
  // The tensors alone, for work on many inputs. Throws InvalidInput for what the model cannot take.
  virtual Sample sample(const InputValue& value, DType dtype,
                        std::vector<std::string>& notes) const = 0;
  // How many samples of this kind may run together.
  virtual int64_t max_at_once(const InputValue& value) const;
  // Where answers alone are asked for: the source of samples, and how many of them, in their order,
  // answer together (0: each for itself).
  virtual const GraphSource& answer_source() const { return source(); }
  virtual int64_t answer_block() const { return 0; }
  // The shapes that every sample has; nothing where they depend on the input.
  virtual std::optional<SampleShapes> fixed_shapes() const { return std::nullopt; }

  virtual Reading read(const InputValue& value, const Question& question) const = 0;

  // Maps and gradients of readers whose maps do not go over units: all of them, and all outputs.
  virtual std::optional<Trace> trace(const InputValue& value, const Question& question) const;

  // The columns of a table whose rows are of its kind. Throws InvalidInput for a reader of
  // something else.
  virtual std::unique_ptr<const ColumnSource> columns_of(const NamedTable& table) const;

  // Sets of inputs as a study of concepts runs them. Throws InvalidInput for targets that the model
  // does not have, and for inputs that it cannot take.
  virtual ListedConcepts concepts_of(const GivenConcepts& sets, DType dtype) const;

  // Another target than the one explained: the answer of this input that `draw` picks. Nothing
  // where there is one alone.
  using DrawOther = std::function<int64_t(int64_t own, int64_t count)>;
  virtual std::optional<TargetChoice> another_target(const InputValue& value,
                                                     const Explanation& explanation,
                                                     const DrawOther& draw) const;

  // Names of a few methods that fit the model and the input, for those who name none; `value` may
  // be left out where the model alone tells.
  virtual std::vector<std::string> default_methods(const InputValue* value,
                                                   const Question& question) const = 0;
};

DType dtype_of(Precision precision);
// How the model runs for a question, before its head is chosen.
RunKind kind_of(const Question& question);

// Labels and space of a model whose facts tell them.
Answered answered_by(const SourceFacts& facts, const Question& question);

// Throws UnsupportedModel where an answer of the model's own is asked for and it has none: the
// largest dimension of what comes before a head is none.
void check_head(const SourceFacts& facts, const Question& question);
bool asks_for_own_answer(const Question& question);  // needs one, and no target is named

// Throws InvalidInput for an input of another kind than the reader takes; `place` tells which of
// many it is, such as "line 7".
void check_kind(const Reader& reader, const InputValue& value, const std::string& place);

}  // namespace whyformer
