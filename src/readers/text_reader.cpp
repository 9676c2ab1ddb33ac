#include "readers/text_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/length.h"
#include "readers/describe.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

// The largest mean over tokens is no answer either.
void check_averaged(const TextSource& source, const Question& question) {
  if (source.averaged_output().empty() || !asks_for_own_answer(question)) return;
  throw UnsupportedModel(fmt::format(
      "the output '{}' answers for each token, not for the text. To explain one of its {} numbers, "
      "averaged over the tokens, choose it as the target; to explain those of one token, give "
      "arrays and choose the element",
      source.averaged_output(), source.facts().output_names.size()));
}

}  // namespace

TokenizerFacts facts_of(const Tokenizer& tokenizer) {
  return {tokenizer.vocabulary_size(), tokenizer.model_max_length(), tokenizer.pad_id()};
}

ModelInfo TextReader::info() const {
  // Discovery needs a graph; a few tokens are enough.
  const TextSource& source = *reading_.source;
  const auto graph = source.graph(text_key(source.probe_tokens(), {.head = source.own_head()}));
  ModelInfo info = describe(source, "text", *graph);
  info.vocabulary = reading_.tokenizer->vocabulary_size();
  info.max_tokens = source.max_tokens();
  return info;
}

Encoding TextReader::encode(const TextInput& input, std::vector<std::string>& notes) const {
  const TextSource& source = *reading_.source;
  if (is_blank(input.text)) {
    throw InvalidInput("the text is empty: there is nothing to explain");
  }
  if (input.pair && is_blank(*input.pair)) {
    throw InvalidInput("the second text is empty: give one, or leave it out");
  }
  Encoding encoding = reading_.encode(input);
  if (encoding.truncated > 0) {
    notes.push_back(fmt::format(
        "The text is longer than the model reads: the last {} tokens were cut off at its maximum "
        "of {}.",
        encoding.truncated, source.max_tokens()));
  }
  const auto padding = std::count_if(encoding.ids.begin(), encoding.ids.end(),
                                     [&](int64_t id) { return id == source.pad_id(); });
  if (source.fixed_tokens() > 0 && padding > 0) {
    notes.push_back(fmt::format(
        "The file takes exactly {} tokens: {} of them are padding{}.", source.fixed_tokens(),
        padding, source.hides_padding() ? "" : ", which the model reads like any other token"));
  }
  if (encoding.invalid_bytes > 0) {
    notes.push_back(fmt::format("{} byte sequences are not valid UTF-8 and were read as U+FFFD.",
                                encoding.invalid_bytes));
  }
  if (source.has_one_token_type() && std::ranges::count(encoding.type_ids, 1) > 0) {
    notes.push_back("The model has one token type, so the second text gets type 0 like the first.");
  }
  return encoding;
}

Answered TextReader::answered(const InputValue&, const Question& question) const {
  const TextSource& source = *reading_.source;
  if (question.similar_to && source.has_classifier()) {
    throw InvalidInput(
        "similarity to a text needs an encoder without a classifier; this model classifies: choose "
        "one of its labels as the target");
  }
  Answered answered = answered_by(source.facts(), question);
  if (!source.averaged_output().empty()) {
    answered.notes.push_back(fmt::format(
        "The output '{}' has numbers for each token; their mean over the tokens is explained. To "
        "explain those of one token, give arrays and choose the element.",
        source.averaged_output()));
  }
  if (!source.facts().head_left_out.empty()) {
    answered.notes.push_back(fmt::format(
        "'{}' has a head that {}; it is left out, and the model is explained as an encoder.",
        source.facts().head_left_out, source.facts().work_left_out));
  }
  if (question.similar_to) {
    answered.kind.reference = unit_vector(*question.similar_to, question, answered.notes);
  }
  return answered;
}

std::vector<double> TextReader::unit_vector(const std::string& text, const Question& question,
                                            std::vector<std::string>& notes) const {
  const std::vector<Sample> one{sample(TextInput{text, {}}, question.dtype, notes)};
  const FedGraph fed = reading_.source->fed(
      one,
      {.head = Head::kEmbedding, .dtype = question.dtype, .randomisation = question.randomisation});
  const Value output = fed.graph->output;
  std::vector<double> vector =
      run(fed.graph->graph, fed.feeds, {.outputs = {output}})[output].to_doubles();
  const double length = length_or_one(vector);
  for (double& x : vector) x /= length;
  return vector;
}

Sample TextReader::sample(const InputValue& value, DType, std::vector<std::string>& notes) const {
  const Encoding encoding = encode(std::get<TextInput>(value), notes);
  return samples_of({{encoding.ids}, {encoding.type_ids}, {}})[0];
}

Input TextReader::input_of(ReadText text, const RunKind& kind) const {
  const auto tokens = static_cast<int64_t>(text.encoding.ids.size());
  InputFacts facts{.source = reading_.source,
                   .kind = kind,
                   .sample = samples_of({{text.encoding.ids}, {text.encoding.type_ids}, {}})[0],
                   .max_at_once = reading_.source->max_at_once()};
  facts.why_no_maps = token_maps_problem(
      reading_.source->fed(std::vector{facts.sample}, kind).graph->found, tokens);
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::make_unique<TextPart>(reading_, std::move(text), kind));
  return {std::move(facts), std::move(parts)};
}

Reading TextReader::read(const InputValue& value, const Question& question) const {
  const TextInput& text = std::get<TextInput>(value);
  check_head(reading_.source->facts(), question);
  check_averaged(*reading_.source, question);
  Reading reading;
  reading.answered = answered(value, question);
  Encoding encoding = encode(text, reading.notes);
  reading.shown.text = text.text;
  reading.shown.pair = text.pair;
  reading.inputs.push_back(input_of({std::move(encoding), text}, reading.answered.kind));
  reading.shown.units = reading.inputs[0].parts()[0]->units();
  return reading;
}

std::vector<std::string> TextReader::default_methods(const InputValue*, const Question&) const {
  const TextSource& source = *reading_.source;
  const int64_t tokens = source.probe_tokens();
  const auto graph = source.graph(text_key(tokens, {.head = source.own_head()}));
  if (!token_maps_problem(graph->found, tokens).empty()) {
    return {"integrated-gradients", "leave-one-out"};
  }
  return {"gae", "integrated-gradients"};
}

}  // namespace whyformer
