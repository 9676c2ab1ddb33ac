#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <set>

#include "explain/explained.h"
#include "explain/method.h"
#include "explain/units.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

Encoding encode(const TextModel& model, const TextInput& input, std::vector<std::string>& notes) {
  if (is_blank(input.text)) {
    throw InvalidInput("the text is empty: there is nothing to explain");
  }
  const auto pair = input.pair ? std::optional<std::string_view>(*input.pair) : std::nullopt;
  Encoding encoding = model.tokenizer().encode(input.text, pair, model.max_tokens());
  if (encoding.truncated > 0) {
    notes.push_back(fmt::format(
        "The text is longer than the model reads: the last {} tokens were cut off at its maximum "
        "of {}.",
        encoding.truncated, model.max_tokens()));
  }
  if (encoding.invalid_bytes > 0) {
    notes.push_back(fmt::format("{} byte sequences are not valid UTF-8 and were read as U+FFFD.",
                                encoding.invalid_bytes));
  }
  return encoding;
}

// The text's embedding as a unit vector, the other side of a similarity.
std::vector<double> reference_vector(const TextModel& model, const std::string& text,
                                     std::vector<std::string>& notes) {
  Explained other(model, encode(model, {text, {}}, notes), {.head = Head::kEmbedding});
  std::vector<double> vector = other.outputs();
  double sum = 0;
  for (const double x : vector) sum += x * x;
  for (double& x : vector) x /= sum > 0 ? std::sqrt(sum) : 1;
  return vector;
}

Output output_of(const Explained& explained, Head head, const ExplainRequest& request) {
  Output output;
  output.values = explained.outputs();
  if (head == Head::kSimilarity) {
    output.space = "similarity";
    output.labels = {fmt::format("similarity to \"{}\"", *request.similar_to)};
    return output;
  }
  const TextModel& model = explained.model();
  output.labels = model.output_names();
  output.space = head == Head::kEmbedding                     ? "embedding"
                 : model.problem() == Problem::kRegression ? "value"
                                                              : "logit";
  return output;
}

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string some_labels(const std::vector<std::string>& labels) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(labels.size(), 8); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, labels[i]);
  }
  return labels.size() > 8 ? text + ", …" : text;
}

int64_t target_index(const Output& output, const ExplainRequest& request) {
  const auto count = static_cast<int64_t>(output.values.size());
  std::optional<int64_t> index;
  std::string asked;
  if (const auto* number = std::get_if<int64_t>(&request.target)) {
    index = *number;
    asked = std::to_string(*number);
  } else if (const auto* label = std::get_if<std::string>(&request.target)) {
    asked = *label;
    const auto found = std::find(output.labels.begin(), output.labels.end(), *label);
    index = found != output.labels.end() ? std::optional(found - output.labels.begin())
                                         : whole_number(*label);
  } else {
    return std::max_element(output.values.begin(), output.values.end()) - output.values.begin();
  }
  if (!index || *index < 0 || *index >= count) {
    throw InvalidInput(fmt::format("there is no target '{}': this model has {} output{}: {}", asked,
                                   count, count == 1 ? "" : "s", some_labels(output.labels)));
  }
  return *index;
}

Target target_of(const Output& output, int64_t index, std::optional<Problem> problem) {
  Target target{index, output.labels[index], output.values[index], {}};
  if (output.space != "logit") return target;
  if (problem == Problem::kMultiLabel) {
    target.probability = 1 / (1 + std::exp(-target.value));
  } else {
    const double most = *std::max_element(output.values.begin(), output.values.end());
    double sum = 0;
    for (const double value : output.values) sum += std::exp(value - most);
    target.probability = std::exp(target.value - most) / sum;
  }
  return target;
}

// A text about to be explained: everything that does not depend on the method.
struct Prepared {
  std::vector<std::string> notes;
  std::unique_ptr<Explained> explained;
  Output output;
  Target target;
};

Prepared prepare(const TextModel& model, const TextInput& input, const ExplainRequest& request,
                 Needs needs) {
  Prepared prepared;
  Head head = model.has_classifier() ? Head::kLogits : Head::kEmbedding;
  if (request.similar_to && model.has_classifier()) {
    throw InvalidInput(
        "similarity to a text needs an encoder without a classifier; this model classifies: choose "
        "one of its labels as the target");
  }
  Encoding encoding = encode(model, input, prepared.notes);
  Explained::Settings settings{.needs = needs,
                               .seed = request.seed,
                               .memory_bytes = request.memory_bytes,
                               .progress = request.progress};
  if (request.similar_to) {
    head = Head::kSimilarity;
    settings.reference = reference_vector(model, *request.similar_to, prepared.notes);
  }
  settings.head = head;
  prepared.explained = std::make_unique<Explained>(model, std::move(encoding), settings);
  prepared.output = output_of(*prepared.explained, head, request);
  const int64_t index = target_index(prepared.output, request);
  prepared.target = target_of(prepared.output, index, model.problem());
  prepared.explained->set_target(index);
  if (head == Head::kEmbedding && std::holds_alternative<std::monostate>(request.target)) {
    prepared.notes.push_back(fmt::format(
        "This model has no classifier, so the largest of its {} embedding dimensions is explained; "
        "choose another target, or a text to compare with.",
        prepared.output.values.size()));
  }
  if (prepared.explained->found().read_out.kind == ReadOut::Kind::kUnknown) {
    prepared.notes.push_back(
        "How the output reads the tokens was not recognised: all tokens are taken as read alike.");
  }
  return prepared;
}

AttentionMap map_of(const std::string& name, const Tensor& maps) {
  const Tensor owned = maps.contiguous().cast(DType::kFloat32);
  return {name, owned.dim(0), owned.dim(1), owned.dim(2),
          std::shared_ptr<const float[]>(owned.storage(), owned.data<float>())};
}

struct Job {
  const Method* method;
  OptionReader options;
};

std::vector<Job> jobs_of(const ExplainRequest& request) {
  if (request.methods.empty()) throw InvalidInput("no method was asked for");
  std::vector<Job> jobs;
  for (const MethodRequest& asked : request.methods) {
    const Method& method = find_method(asked.name);
    jobs.push_back({&method, complete_options(method, asked.options)});
  }
  return jobs;
}

bool gives_signed_scores(const Job& job) {
  if (job.method->info.is_signed) return true;
  for (const auto& [name, value] : job.options.all()) {
    if (name == "of" && std::get<std::string>(value) == "gradient-x-input") return true;
  }
  return false;
}

Attribution run_method(const Job& job, Explained& explained, const TextInput& input,
                       const std::vector<Unit>& units, WordFold fold) {
  const auto start = Clock::now();
  const Cost before = explained.spent();
  const double shared_before = explained.shared_seconds();
  Scores scores = job.method->run(explained, job.options);
  const double own = std::chrono::duration<double>(Clock::now() - start).count() -
                     (explained.shared_seconds() - shared_before);
  const Needs needs = job.method->needs;
  const bool walks = needs.attention_gradient || needs.embedding_gradient;
  Attribution result;
  result.method = job.method->info.name;
  result.options = job.options.all();
  result.words = fold_words(units, scores.values, input, fold);
  result.scores = std::move(scores.values);
  result.is_signed = gives_signed_scores(job);
  result.completeness_gap = scores.completeness_gap;
  result.seed = scores.seed;
  result.notes = std::move(scores.notes);
  // The shared run and walk count for every method that reads them.
  const int walked = explained.spent().backwards - before.backwards;
  result.cost.forwards = 1 + explained.spent().forwards - before.forwards;
  result.cost.backwards = walks ? std::max(1, walked) : walked;
  result.cost.seconds = own + explained.shared_seconds();
  return result;
}

}  // namespace

Explanation explain(const Model& model, const TextInput& input, const ExplainRequest& request) {
  const std::vector<Job> jobs = jobs_of(request);
  Needs needs{.attention = true};  // reports show the maps
  for (const Job& job : jobs) needs = needs | job.method->needs;
  Prepared prepared = prepare(model.text_model(), input, request, needs);
  Explanation explanation;
  explanation.model = model.name();
  explanation.text = input.text;
  explanation.pair = input.pair;
  explanation.units = units_of(prepared.explained->encoding());
  explanation.output = std::move(prepared.output);
  explanation.target = std::move(prepared.target);
  explanation.notes = std::move(prepared.notes);
  for (const Job& job : jobs) {
    explanation.attributions.push_back(
        run_method(job, *prepared.explained, input, explanation.units, request.fold));
  }
  for (int layer = 0; layer < prepared.explained->layers(); ++layer) {
    explanation.attention.push_back(map_of(prepared.explained->found().sites[layer].name,
                                           prepared.explained->attention(layer)));
  }
  return explanation;
}

Trace trace(const Model& model, const TextInput& input, const ExplainRequest& request) {
  Prepared prepared = prepare(model.text_model(), input, request,
                              {.attention = true, .attention_gradient = true});
  Trace result;
  for (int layer = 0; layer < prepared.explained->layers(); ++layer) {
    const std::string& name = prepared.explained->found().sites[layer].name;
    result.attention.push_back(map_of(name, prepared.explained->attention(layer)));
    result.attention_gradient.push_back(
        map_of(name, prepared.explained->attention_gradient(layer)));
  }
  result.units = units_of(prepared.explained->encoding());
  result.output = std::move(prepared.output);
  result.target = std::move(prepared.target);
  result.notes = std::move(prepared.notes);
  return result;
}

}  // namespace whyformer
