#include "whyformer/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "base/pulse.h"
#include "readers/asked.h"
#include "readers/given_picture.h"
#include "readers/pictures/picture_processor.h"
#include "run/output_space.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Puts the answers of runs where they belong.
class Collected {
 public:
  Collected(Asked asked, size_t inputs, const AnswersRequest& request)
      : asked_(std::move(asked)), request_(request) {
    result.space = asked_.output.space;
    result.labels = asked_.output.labels;
    result.notes = asked_.notes;
    result.inputs.resize(inputs);
  }

  const RunKind& kind() const { return asked_.kind; }

  // `inputs` are the numbers of those that run together.
  void add(const Run& together, std::span<const size_t> inputs) {
    const PulseScope pulses([this] { return goes_on(); });
    const Value output = together.graph->output;
    const std::vector<double> flat =
        run(together.graph->graph, together.feeds, {.outputs = {output}})[output].to_doubles();
    const auto width = static_cast<int64_t>(result.labels.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Answer& answer = result.inputs[inputs[i]];
      const auto first = flat.begin() + static_cast<int64_t>(i) * width;
      answer.values.assign(first, first + width);
      if (result.space == "logit")
        answer.probabilities = probabilities_of(answer.values, *asked_.problem);
    }
    done_ += static_cast<int64_t>(inputs.size());
    if (!goes_on()) throw Interrupted();
  }

  Answers result;

 private:
  bool goes_on() const {
    return !request_.progress ||
           request_.progress(done_, static_cast<int64_t>(result.inputs.size()));
  }

  Asked asked_;
  const AnswersRequest& request_;
  int64_t done_ = 0;
};

// Inputs that the model cannot take say which they are.
template <class Work>
auto numbered(const char* kind, size_t number, const Work& work) {
  try {
    return work();
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{} {}: {}", kind, number, error.what()));
  }
}

struct Tokens {
  std::vector<int64_t> ids, types;
};

void add_texts(const TextModel& model, const std::vector<Tokens>& texts,
               const AnswersRequest& request, Collected& collected) {
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return texts[a].ids.size() < texts[b].ids.size(); });
  const auto graph_for = [&](size_t batch, int64_t tokens) {
    return model.graph({.batch = static_cast<int64_t>(batch),
                        .tokens = tokens,
                        .head = collected.kind().head,
                        .dtype = collected.kind().dtype});
  };
  if (order.empty()) return;
  const auto known = graph_for(
      1, static_cast<int64_t>(texts[order[0]].ids.size()));  // any length tells heads and widths
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const size_t length = texts[order[begin]].ids.size();
    const auto tokens = static_cast<int64_t>(length);
    const auto step = static_cast<size_t>(
        std::min(model.most_at_once(), most_inputs_at_once(*known, tokens, request.memory_bytes)));
    TokenBatch batch;
    for (; end < order.size() && end - begin < step && texts[order[end]].ids.size() == length;
         ++end) {
      batch.ids.push_back(texts[order[end]].ids);
      batch.types.push_back(texts[order[end]].types);
    }
    const auto graph = graph_for(end - begin, tokens);
    collected.add({graph, model.feeds(*graph, batch, collected.kind().reference)},
                  std::span(order).subspan(begin, end - begin));
  }
}

// Pictures of one size that wait to run together.
class WaitingPictures {
 public:
  WaitingPictures(const PictureModel& model, const AnswersRequest& request, Collected& collected)
      : model_(model), request_(request), collected_(collected) {}

  void add(size_t number, const Tensor& values) {
    const Tensor pixels = values.cast(collected_.kind().dtype);
    if (!pixels_.empty() && pixels.shape() != pixels_[0].shape()) run();
    if (pixels_.empty()) {
      const auto graph = graph_for(1, pixels);
      const int64_t tokens = tokens_in(*graph, graph->grid.count());
      most_ = std::min(model_.most_at_once(),
                       most_inputs_at_once(*graph, tokens, request_.memory_bytes));
    }
    pixels_.push_back(pixels);
    numbers_.push_back(number);
    if (static_cast<int64_t>(pixels_.size()) >= most_) run();
  }

  void run() {
    if (pixels_.empty()) return;
    const auto count = static_cast<int64_t>(pixels_.size());
    const auto graph = graph_for(count, pixels_[0]);
    Shape shape = pixels_[0].shape();
    shape.insert(shape.begin(), count);
    Tensor together = Tensor::empty(shape, collected_.kind().dtype);
    for (int64_t i = 0; i < count; ++i) together.select(0, i).copy_from(pixels_[i]);
    collected_.add({graph, model_.feeds(*graph, together, collected_.kind().reference)}, numbers_);
    pixels_.clear();
    numbers_.clear();
  }

 private:
  std::shared_ptr<const PictureGraph> graph_for(int64_t batch, const Tensor& pixels) const {
    return model_.graph({.batch = batch,
                         .height = pixels.dim(1),
                         .width = pixels.dim(2),
                         .head = collected_.kind().head,
                         .dtype = collected_.kind().dtype});
  }

  const PictureModel& model_;
  const AnswersRequest& request_;
  Collected& collected_;
  std::vector<Tensor> pixels_;
  std::vector<size_t> numbers_;
  int64_t most_ = 1;
};

void check(const NamedTable& rows) {
  const Table& table = rows.table;
  const auto names = static_cast<int64_t>(rows.names.size()),
             numbers = static_cast<int64_t>(table.values.size());
  if (table.columns > 0 && names == table.columns && numbers % table.columns == 0 &&
      numbers / table.columns == table.rows)
    return;
  throw InvalidInput(fmt::format("a table of {} rows and {} columns has {} names and {} numbers",
                                 table.rows, table.columns, names, numbers));
}

}  // namespace

Answers answers(const Model& model, const std::vector<TextInput>& texts,
                const AnswersRequest& request) {
  const TextModel& reader = model.text_model();
  Collected collected(asked_of(reader, request.similar_to, request.precision), texts.size(),
                      request);
  std::vector<Tokens> tokens;
  for (size_t i = 0; i < texts.size(); ++i) {
    Encoding encoding = numbered(
        "text", i, [&] { return encode(reader, texts[i], collected.result.inputs[i].notes); });
    tokens.push_back({std::move(encoding.ids), std::move(encoding.type_ids)});
  }
  add_texts(reader, tokens, request, collected);
  return std::move(collected.result);
}

Answers answers(const Model& model, const std::vector<PictureInput>& pictures,
                const AnswersRequest& request) {
  const PictureModel& reader = model.picture_model();
  Collected collected(asked_of(reader, request.similar_to, request.precision), pictures.size(),
                      request);
  WaitingPictures waiting(reader, request, collected);
  for (size_t i = 0; i < pictures.size(); ++i) {
    numbered("picture", i,
             [&] { waiting.add(i, processed(model, pixels_of(pictures[i])).values); });
  }
  waiting.run();
  return std::move(collected.result);
}

Answers answers(const Model& model, const NamedTable& rows, const AnswersRequest& request) {
  const TableModel& reader = model.table_model();
  const Table& table = rows.table;
  check(rows);
  Collected collected(asked_of(reader, table.columns, request.similar_to, request.precision),
                      static_cast<size_t>(table.rows), request);
  const std::vector<int64_t> places = reader.places_of(rows.names);
  const DType dtype = collected.kind().dtype;
  const auto one = reader.graph(1, table.columns, dtype);
  const int64_t step =
      std::min(reader.most_rows_at_once(table.columns),
               most_inputs_at_once(*one, tokens_in(*one, table.columns), request.memory_bytes));
  for (int64_t begin = 0; begin < table.rows; begin += step) {
    std::vector<std::vector<double>> values;
    std::vector<size_t> numbers;
    for (int64_t row = begin; row < std::min(table.rows, begin + step); ++row) {
      numbers.push_back(static_cast<size_t>(row));
      values.emplace_back();
      for (const int64_t place : places)
        values.back().push_back(table.values[row * table.columns + place]);
    }
    const auto graph = reader.graph(static_cast<int64_t>(values.size()), table.columns, dtype);
    collected.add({graph, reader.feeds(*graph, values)}, numbers);
  }
  return std::move(collected.result);
}

}  // namespace whyformer
