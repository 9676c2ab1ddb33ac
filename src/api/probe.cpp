#include "whyformer/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "api/applied_edits.h"
#include "api/prepare.h"
#include "graph/walk_back.h"
#include "relevance/relevance_walk.h"
#include "run/labels.h"
#include "run/output_space.h"
#include "run/pulse_question.h"
#include "run/reduced.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

RecordedArray recorded(const std::string& name, ReadArray read, bool whole) {
  RecordedArray array{.name = name + read.suffix,
                      .axes = std::move(read.axes),
                      .shape = read.numbers.shape(),
                      .whole = whole,
                      .exact = read.exact};
  auto kept = std::make_shared<const Tensor>(std::move(read.numbers));
  if (kept->dtype() == DType::kFloat32) {
    array.floats = {kept, kept->data<float>()};
  } else {
    array.doubles = {kept, kept->data<double>()};
  }
  return array;
}

// One run of a model with everything that is read of it.
class ProbeRun {
 public:
  ProbeRun(const Model& model, const InputValue& value, const ProbeRequest& request)
      : request_(request) {
    const Reader& reader = model.reader_of(value);
    Question question{.similar_to = request.similar_to,
                      .dtype = dtype_of(request.precision),
                      .target = request.target,
                      .all_rows = true};
    if (request.copies < 1)
      throw InvalidInput("an input is run at least once: give 1 copy or more");
    constexpr int64_t kMostCopies = 4096;
    if (request.copies > kMostCopies) {
      throw InvalidInput(
          fmt::format("{} copies of an input do not run at a time: ask for {} or fewer, one part "
                      "after the other",
                      request.copies, kMostCopies));
    }
    if (!request.edits.empty())
      question.edits = edits_for(reader, value, question, request.edits, request.copies);
    reading_ = reader.read(value, question);
    check_one_part(reading_);
    if (request.copies > reading_.inputs[0].max_at_once()) {
      throw InvalidInput(
          fmt::format("this model runs {} input at a time, not {}: ask for them one "
                      "after the other",
                      reading_.inputs[0].max_at_once(), request.copies));
    }
    fed_ = reading_.inputs[0].copies(request.copies);
    names_ = names_in(*fed_.graph, reading_.inputs[0].source().facts().native);
    recording_.model = reading_.shown.model.name.empty() ? model.name() : reading_.shown.model;
  }

  Recording record() {
    find_values();
    check_bytes();
    run_once();
    fill_output();
    for (const auto& [read, value] : reads_) add(value->name, pass_[held(*value)], *value, *read);
    if (!gradients_.empty()) add_gradients();
    if (!relevance_.empty()) add_relevance();
    for (const Edit& edit : request_.edits) recording_.edits.push_back(to_text(edit));
    recording_.units = std::move(reading_.shown.units);
    return std::move(recording_);
  }

 private:
  const Graph& graph() const { return fed_.graph->graph; }
  // Behind all edits of it.
  Value held(const NamedValue& value) const { return fed_.graph->edited_value(value.value); }

  std::vector<const NamedValue*> numbers_matching(const std::string& pattern) const {
    std::vector<const NamedValue*> found = names_.matching(pattern);
    const auto whole = [&](const NamedValue* one) {
      return graph().type(one->value).dtype == DType::kInt64;
    };
    if (!is_glob(pattern) && whole(found[0])) {
      throw InvalidInput(
          fmt::format("'{}' holds whole numbers, which have no gradient and no "
                      "relevance",
                      printable(pattern)));
    }
    std::erase_if(found, whole);
    return found;
  }

  void find_values() {
    for (const Read& read : request_.reads) {
      for (const NamedValue* value : names_.matching(read.value)) reads_.emplace_back(&read, value);
    }
    const auto add_all = [&](const std::vector<std::string>& patterns, auto& to) {
      for (const std::string& pattern : patterns) {
        for (const NamedValue* value : numbers_matching(pattern)) to.push_back(value);
      }
    };
    add_all(request_.gradients, gradients_);
    add_all(request_.relevance, relevance_);
    if (request_.gradient_of) check_gradient_of(*request_.gradient_of);
  }

  void check_gradient_of(const Read& read) const {
    if (read.reduce != Reducer::kNone || !read.over.empty()) {
      throw InvalidInput(
          fmt::format("the gradient is of the sum of '{}', so it takes no reducer and no axes to "
                      "reduce: name the value and its places alone",
                      printable(read.value)));
    }
    if (graph().type(names_.at(read.value).value).dtype != DType::kInt64) return;
    throw InvalidInput(
        fmt::format("'{}' holds whole numbers, which have no gradient", printable(read.value)));
  }

  void check_bytes() const {
    int64_t bytes = 0;
    for (const auto& [read, value] : reads_) bytes += bytes_of_read(graph(), *value, *read);
    for (const auto* values : {&gradients_, &relevance_}) {
      for (const NamedValue* value : *values)
        bytes += bytes_of_read(graph(), *value, {.value = value->name});
    }
    if (bytes <= request_.most_bytes) return;
    throw InvalidInput(fmt::format(
        "what is read would take {:.1f} GB, and the limit is {:.1f} GB: read fewer values or "
        "places, reduce them, or raise the limit",
        static_cast<double>(bytes) / 1e9, static_cast<double>(request_.most_bytes) / 1e9));
  }

  void run_once() {
    RunOptions options{.keep = Keep::kOutputs, .outputs = {fed_.graph->output}};
    if (!gradients_.empty()) options.keep = Keep::kGradients;
    if (!relevance_.empty()) options.keep = Keep::kEverything;
    for (const auto& [read, value] : reads_) options.outputs.push_back(held(*value));
    pass_ = run(graph(), fed_.feeds, options);
  }

  void fill_output() {
    const std::vector<double> flat = pass_[fed_.graph->output].to_doubles();
    const auto width = static_cast<int64_t>(flat.size()) / request_.copies;
    for (int64_t i = 0; i < request_.copies; ++i)
      recording_.outputs.emplace_back(flat.begin() + i * width, flat.begin() + (i + 1) * width);
    Output& output = recording_.output;
    output = {reading_.answered.space, recording_.outputs[0], reading_.answered.labels};
    if (reading_.element) {
      target_ = *reading_.element;
      const double value = output.values[target_];
      output.values = {value};
      recording_.target = {0, output.labels[0], value, {}};
      reading_.check_element(value);
    } else {
      target_ = target_index(output, request_.target);
      if (output.space == "logit" && reading_.answered.problem)
        output.probabilities = probabilities_of(output.values, *reading_.answered.problem);
      recording_.target = target_of(output, target_);
    }
    recording_.notes = reading_.notes;
    const auto& more = reading_.answered.notes;
    recording_.notes.insert(recording_.notes.end(), more.begin(), more.end());
  }

  void add(const std::string& name, const Tensor& tensor, const NamedValue& value,
           const Read& read) {
    const bool whole = read.at.empty() && read.reduce == Reducer::kNone;
    for (ReadArray& one : read_of(value.told(tensor), value, read))
      recording_.arrays.push_back(recorded(name, std::move(one), whole));
  }

  // Where the gradient begins: the target, or the sum of what was asked for.
  std::pair<Value, Tensor> seed() const {
    if (!request_.gradient_of) {
      Tensor one = Tensor::zeros(graph().shape(fed_.graph->output), dtype_of(request_.precision));
      one.slice(1, target_, 1).fill(1);
      return {fed_.graph->output, one};
    }
    const NamedValue& of = names_.at(request_.gradient_of->value);
    const Shape shape = of.shape(graph());
    const auto places = places_along(of, shape, request_.gradient_of->at);
    Tensor told = Tensor::zeros(shape, DType::kFloat64);
    std::vector<size_t> place(shape.size(), 0);
    for (bool more = true; more;) {
      int64_t element = 0;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        element = element * shape[axis] + places[axis][place[axis]];
      told.mutable_data<double>()[element] = 1;
      more = false;
      for (size_t axis = shape.size(); axis-- > 0 && !more;) {
        more = ++place[axis] < places[axis].size();
        if (!more) place[axis] = 0;
      }
    }
    return {held(of), of.held(told).contiguous().cast(dtype_of(request_.precision))};
  }

  std::vector<Value> held_values(const std::vector<const NamedValue*>& values) const {
    std::vector<Value> all;
    for (const NamedValue* value : values) all.push_back(held(*value));
    return all;
  }

  void add_gradients() {
    auto [from, one] = seed();
    BackwardWalk walk(graph(), pass_, from, std::move(one), gradient_rule(),
                      held_values(gradients_));
    // The walk goes from the output down, values stand in the order of the graph.
    for (const NamedValue* value : gradients_)
      add("gradient." + value->name, walk.at(held(*value)), *value, {.value = value->name});
  }

  void add_relevance() {
    Policy policy = request_.policy.ends_with(".json")
                        ? parse_policy(map_file(request_.policy).text(), request_.policy)
                        : policy_named(request_.policy);
    RelevanceWalk walk(graph(), pass_, fed_.graph->output,
                       std::vector<int64_t>(static_cast<size_t>(request_.copies), target_),
                       std::move(policy), RelevanceForm::kExplicit, held_values(relevance_));
    for (const NamedValue* value : relevance_)
      add("relevance." + value->name, walk.at(held(*value)), *value, {.value = value->name});
  }

  const ProbeRequest& request_;
  Reading reading_;
  FedGraph fed_;
  NamedValues names_;
  std::vector<std::pair<const Read*, const NamedValue*>> reads_;
  std::vector<const NamedValue*> gradients_, relevance_;
  Pass pass_;
  int64_t target_ = 0;
  Recording recording_;
};

InputValue small_input(const Model& model) {
  if (model.reads_texts()) return TextInput{"a", {}};
  if (model.reads_pictures()) {
    constexpr int64_t kSide = 32;
    const std::shared_ptr<uint8_t[]> pixels(new uint8_t[3 * kSide * kSide]());
    return PictureInput(PicturePixels{"", kSide, kSide, 3, pixels});
  }
  throw InvalidInput("which values there are depends on the input: give a row or arrays");
}

}  // namespace

std::vector<ValueInfo> values_inside(const Model& model, const InputValue& input,
                                     const std::string& pattern) {
  const Reading reading =
      model.reader_of(input).read(input, {.all_rows = true, .needs_answer = false});
  check_one_part(reading);
  const FedGraph fed = reading.inputs[0].copies(1);
  const Graph& graph = fed.graph->graph;
  const NamedValues names = names_for(reading.inputs[0]);
  std::vector<ValueInfo> found;
  for (const NamedValue* one : names.matching(pattern)) {
    const int producer = graph.producer(one->value);
    found.push_back({one->name, one->axes, one->shape(graph), one->native,
                     producer < 0 ? "" : std::string(graph.nodes()[producer].op->kind())});
  }
  return found;
}

std::vector<ValueInfo> values_inside(const Model& model, const std::string& pattern) {
  return values_inside(model, small_input(model), pattern);
}

int64_t RecordedArray::size() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

const RecordedArray& Recording::at(std::string_view name) const {
  for (const RecordedArray& array : arrays) {
    if (array.name == name) return array;
  }
  throw InvalidInput(fmt::format("'{}' was not read", printable(name)));
}

EditArray Recording::numbers(std::string_view name, const EditPlaces& at) const {
  const RecordedArray& own = this->at(name);
  if (!own.whole) {
    throw InvalidInput(fmt::format(
        "of '{}' not everything was read, so its places are others: read it whole, without "
        "places and reducers, and name the places here",
        printable(name)));
  }
  std::vector<double> all;
  for (int64_t i = 0; i < own.size(); ++i) all.push_back(own[i]);
  const Tensor whole = Tensor::of<double>(own.shape, std::span<const double>(all));
  const NamedValue value{.name = own.name, .value = {}, .axes = own.axes};
  return edit_array(at_places(whole, places_along(value, own.shape, at)).contiguous());
}

Edit Recording::copy(std::string_view name, const EditPlaces& at, const std::string& run) const {
  return {.op = EditOp::kCopy,
          .value = std::string(name),
          .at = at,
          .array = numbers(name, at),
          .source = fmt::format("{}.{}", run, name)};
}

Recording probe(const Model& model, const InputValue& input, const ProbeRequest& request) {
  const PulseScope pulses(pulse_question(request.progress));
  return ProbeRun(model, input, request).record();
}

}  // namespace whyformer
