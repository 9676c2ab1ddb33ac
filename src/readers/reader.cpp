#include "readers/reader.h"

#include <fmt/format.h>

#include "readers/sample_concept_inputs.h"
#include "whyformer/error.h"

namespace whyformer {

int64_t Reader::max_at_once(const InputValue&) const { return source().max_at_once(); }

std::optional<Trace> Reader::trace(const InputValue&, const Question&) const {
  return std::nullopt;
}

std::unique_ptr<const ColumnSource> Reader::columns_of(const NamedTable&) const {
  throw InvalidInput(fmt::format("{} have no columns", what()));
}

ListedConcepts Reader::concepts_of(const GivenConcepts& sets, DType dtype) const {
  return listed_samples(*this, sets, dtype);
}

std::optional<TargetChoice> Reader::another_target(const InputValue&,
                                                   const Explanation& explanation,
                                                   const DrawOther& draw) const {
  const auto answers = static_cast<int64_t>(explanation.output.values.size());
  if (answers < 2) return std::nullopt;
  return draw(explanation.target.index, answers);
}

DType dtype_of(Precision precision) {
  return precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32;
}

RunKind kind_of(const Question& question) {
  return {.dtype = question.dtype,
          .randomisation = question.randomisation,
          .edits = question.edits,
          .all_rows = question.all_rows || question.edits != nullptr};
}

Answered answered_by(const SourceFacts& facts, const Question& question) {
  Answered answered{.kind = kind_of(question), .problem = facts.problem, .notes = facts.notes};
  if (question.similar_to) {
    answered.kind.head = Head::kSimilarity;
    answered.space = "similarity";
    answered.labels = {fmt::format("similarity to \"{}\"", *question.similar_to)};
    return answered;
  }
  answered.kind.head = facts.problem ? Head::kLogits : Head::kEmbedding;
  answered.labels = facts.output_names;
  answered.space = !facts.problem                           ? "embedding"
                   : *facts.problem == Problem::kRegression ? "value"
                                                            : "logit";
  return answered;
}

bool asks_for_own_answer(const Question& question) {
  return question.needs_answer && !question.similar_to &&
         std::holds_alternative<std::monostate>(question.target);
}

void check_head(const SourceFacts& facts, const Question& question) {
  if (facts.head_left_out.empty() || !asks_for_own_answer(question)) return;
  const std::string work =
      facts.work_left_out.empty() ? ", which is not supported yet" : ": it " + facts.work_left_out;
  throw UnsupportedModel(
      fmt::format("'{}' has a head other than a classifier{}. There is no answer to explain. To "
                  "explain it as an encoder, choose a target, one of the {} dimensions of its "
                  "embedding, or a text to be similar to",
                  facts.head_left_out, work, facts.output_names.size()));
}

void check_kind(const Reader& reader, const InputValue& value, const std::string& place) {
  if (reader.takes(value)) return;
  throw InvalidInput(
      fmt::format("{}: expected {}, not {}", place, reader.what(), kInputNames[value.index()]));
}

}  // namespace whyformer
