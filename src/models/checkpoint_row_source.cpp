#include "models/checkpoint_row_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "models/architectures/tables/table_family.h"
#include "models/table_answers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kMostTableRows = 1 << 20;

bool marks_missing(const TableSpec& spec) {
  return std::ranges::any_of(spec.columns, [](const ColumnSpec& column) {
    return column.missing.how == MissingCell::How::kMask;
  });
}

// Rows beside the explained ones.
struct RowContext {
  RowsAttended::Kind kind = RowsAttended::Kind::kAlone;
  std::vector<Sample> rows = {};
  bool may_leave_out = false;  // some of them, by kRowsSeen
  bool as_tokens = false;      // they are tokens of the graph

  int64_t count() const { return static_cast<int64_t>(rows.size()); }
};

// Scores of what is not seen; the softmax gives 0.
constexpr double kUnseen = -1e9;

class CheckpointRowSource final : public RowSource {
 public:
  CheckpointRowSource(TableSpec spec, StoredTensors tensors, std::string name);
  CheckpointRowSource(const CheckpointRowSource& alone, RowContext context);

  std::vector<TableColumn> columns(int64_t total) const override;
  std::optional<int64_t> column_count() const override;
  std::vector<std::string> output_names(int64_t) const override { return answers_->names(); }
  std::optional<Problem> problem(int64_t) const override { return answers_->problem(); }
  int64_t max_rows_at_once(int64_t columns) const override;
  bool rows_attend() const override { return table_.rows_attend; }
  bool columns_stay_apart() const override { return !table_.rows_attend; }
  std::string family() const override { return std::string(family_.name); }
  std::shared_ptr<const RowSource> in_context(std::vector<Sample> rows,
                                              ContextMode mode) const override;
  std::shared_ptr<const RowSource> in_blocks() const override;
  RowsExplained by_rows() const override;
  std::string why_no_maps() const override;

  int64_t parameter_count() const override { return checkpoint_->parameter_count(); }
  int64_t tensor_count() const override { return checkpoint_->tensor_count(); }

 private:
  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const override;
  void feed(const ModelGraph& graph, std::span<const Sample> samples, Feeds& feeds) const override;

  TableWeights weights() const { return {*checkpoint_, spec_}; }
  TableInputs add_inputs(GraphBuilder& graph, ModelGraph& built) const;
  const RowsAttended& attended(DType type) const;
  RowsAttended context_rows(DType type) const;
  TableAnswers read_answers() const;
  Value rows_unseen(GraphBuilder& graph, ModelGraph& built) const;
  void find_rows(const TableEncoder& encoder, const Graph& whole, ModelGraph& built) const;
  void find_columns(const TableEncoder& encoder, const TableInputs& inputs,
                    ModelGraph& built) const;
  void add_notes();
  void check_ids(const Sample& sample) const;
  std::string column_at(std::string_view input, int64_t at) const;
  int64_t width_of(std::string_view input) const;

  TableSpec spec_;
  std::shared_ptr<const Checkpoint> checkpoint_;
  const TableFamily& family_;
  TableFacts table_;
  int64_t heads_ = 0;
  bool has_missing_ = false;
  std::optional<TableAnswers> answers_;
  RowContext context_;
  mutable std::mutex mutex_;
  mutable std::map<DType, RowsAttended> attended_;  // computed once
};

CheckpointRowSource::CheckpointRowSource(TableSpec spec, StoredTensors tensors, std::string name)
    : RowSource({.name = std::move(name),
                 .architecture = {},
                 .problem = {},
                 .output_names = {},
                 .head_left_out = {},
                 .work_left_out = {},
                 .notes = {}}),
      spec_(std::move(spec)),
      checkpoint_(std::make_shared<Checkpoint>(without_wrapper(std::move(tensors)), "its family")),
      family_(table_family_of(weights())),
      table_(family_.facts(weights())),
      heads_(heads_of(family_, weights(), table_)),
      has_missing_(table_.has_missing && marks_missing(spec_)) {
  check_sizes(family_, table_);
  facts_.architecture = family_.package;
  answers_ = read_answers();
  facts_.problem = problem(0);
  facts_.output_names = output_names(0);
  add_notes();
}

int64_t CheckpointRowSource::width_of(std::string_view input) const {
  if (input == "x_cont") return table_.numbers;
  if (input == "x_cat") return table_.categories();
  if (input == kRowsSeen) return context_.may_leave_out ? context_.count() : 0;
  return has_missing_ ? table_.numbers + table_.categories() : 0;
}

// Building a small graph now shows at once whether the family and the weights belong together.
TableAnswers CheckpointRowSource::read_answers() const {
  GraphBuilder graph;
  ModelGraph built;
  built.key = {.dtype = DType::kFloat32};
  const TableInputs inputs = add_inputs(graph, built);
  // With attention between rows, so that all its tensors are looked at.
  const RowsAttended among{
      .kind = RowsAttended::Kind::kTogether, .keys = {}, .values = {}, .tokens = {}};
  TableEncoder encoder(graph, weights(), table_, heads_, DType::kFloat32, 1, among);
  return {spec_.task, graph.shape(family_.answer(encoder, inputs)).back()};
}

void CheckpointRowSource::add_notes() {
  facts_.notes.insert(facts_.notes.end(), table_.notes.begin(), table_.notes.end());
  std::vector<std::string> left = checkpoint_->never_asked();
  std::erase_if(left, [&](const std::string& name) {
    return name.ends_with("num_batches_tracked") ||
           element_count(*checkpoint_->shape_of(name)) == 0 ||  // of columns that there are none of
           std::ranges::any_of(family_.without_use, [&](std::string_view part) {
             const bool anywhere = part.starts_with('.');
             return anywhere ? name.find(part) != name.npos : name.starts_with(part);
           });
  });
  if (!left.empty()) {
    constexpr size_t kMostListed = 6;
    const size_t count = left.size();
    left.resize(std::min(count, kMostListed));
    facts_.notes.push_back(fmt::format(
        "The weights were read as {} with {} numbers, {} categories and {} blocks; {} tensors have "
        "no place in it and were left out: '{}'{}.",
        family_.name, table_.numbers, table_.categories(), table_.blocks, count,
        fmt::join(left, "', '"), count > kMostListed ? ", …" : ""));
  }
  for (std::string& note : answers_->notes()) facts_.notes.push_back(std::move(note));
}

std::optional<int64_t> CheckpointRowSource::column_count() const {
  return width_of("x_cont") + width_of("x_cat") + width_of("x_missing");
}

std::vector<TableColumn> CheckpointRowSource::columns(int64_t total) const {
  std::vector<TableColumn> columns;
  for (const char* input : {"x_cont", "x_cat", "x_missing"}) {
    for (int64_t i = 0; i < width_of(input); ++i)
      columns.push_back({input, i, std::string_view(input) == "x_cat"});
  }
  if (total != static_cast<int64_t>(columns.size())) {
    throw InvalidInput(fmt::format(
        "the model takes {} columns ({} numbers, {} categories{}), but the table has {}",
        columns.size(), table_.numbers, table_.categories(),
        has_missing_ ? ", and for each whether it is missing" : "", total));
  }
  return columns;
}

TableInputs CheckpointRowSource::add_inputs(GraphBuilder& graph, ModelGraph& built) const {
  const ShapeKey& key = built.key;
  const auto added = [&](const std::string& name, DType type, InputRole role) {
    const int64_t width = width_of(name);
    if (width == 0) return Value{};
    return built.inputs[name] = graph.input(name, {key.batch, width}, type, role);
  };
  return {.numbers = added("x_cont", key.dtype, InputRole::kExplained),
          .categories = added("x_cat", DType::kInt64, InputRole::kExplained),
          .missing = added("x_missing", key.dtype, InputRole::kGiven)};
}

std::shared_ptr<const ModelGraph> CheckpointRowSource::build(const ShapeKey& key) const {
  if (key.batch < 1 || key.batch > kMostTableRows) {
    throw InvalidInput(fmt::format("{} rows at once: at most {}", key.batch, kMostTableRows));
  }
  for (const auto& [name, shape] : key.shapes) {
    if (shape != Shape{width_of(name)}) {
      throw InvalidInput(fmt::format("the input '{}' has the shape {}, but the model takes {}",
                                     name, to_string(shape), to_string({width_of(name)})));
    }
  }
  auto built = std::make_shared<ModelGraph>();
  built->key = key;
  GraphBuilder graph;
  const TableInputs inputs = add_inputs(graph, *built);
  RowsAttended others = attended(key.dtype);
  if (context_.may_leave_out) others.mask = rows_unseen(graph, *built);
  others.as_tokens = context_.as_tokens;
  if (context_.as_tokens) others.kind = RowsAttended::Kind::kLive;
  TableEncoder encoder(graph, weights(), table_, heads_, key.dtype, key.batch, others);
  built->output = answers_->presented(graph, family_.answer(encoder, inputs));
  const Graph whole = graph.finish();
  if (context_.as_tokens) {
    find_rows(encoder, whole, *built);
    keep_what_is_read(whole, *built);
  } else {
    find_columns(encoder, inputs, *built);
    finish_graph(whole, *built, key.batch);
  }
  return built;
}

void CheckpointRowSource::find_columns(const TableEncoder& encoder, const TableInputs& inputs,
                                       ModelGraph& built) const {
  for (const TableEncoder::RowSite& site : encoder.row_sites()) built.row_maps.push_back(site.map);
  if (inputs.numbers.valid())
    built.entries.push_back({inputs.numbers, "x_cont", 0, std::vector<bool>(table_.numbers, true)});
  if (encoder.picked().valid()) {
    built.entries.push_back(
        {encoder.picked(), "x_cat", 0, std::vector<bool>(table_.categories(), true)});
  }
  built.embeddings = built.layers_input = encoder.tokens();
  built.read_token = encoder.read_token();
}

// Tokens are rows, and the answer is that of the first.
void CheckpointRowSource::find_rows(const TableEncoder& encoder, const Graph& whole,
                                    ModelGraph& built) const {
  const int64_t rows = 1 + context_.count();
  Stream stream{.tokens = rows};
  for (const TableEncoder::RowSite& site : encoder.row_sites()) {
    stream.sites.push_back(static_cast<int>(built.found.sites.size()));
    built.found.sites.push_back({.name = fmt::format("rows {}", built.found.sites.size()),
                                 .attention = site.map,
                                 .heads = whole.shape(site.map)[1],
                                 .queries = rows,
                                 .keys = rows,
                                 .query_stream = 0,
                                 .key_stream = 0});
  }
  built.found.streams = {std::move(stream)};
  built.found.read_out = {.kind = ReadOut::Kind::kRow, .stream = 0, .row = 0};
  built.entries = {{encoder.row_tokens(), "rows", 0, std::vector<bool>(rows, true)}};
  built.embeddings = built.layers_input = encoder.row_tokens();
}

// What is added to the scores of row attention so that rows which are left out are seen by nobody,
// and frozen ones do not see the explained one.
Value CheckpointRowSource::rows_unseen(GraphBuilder& graph, ModelGraph& built) const {
  const ShapeKey& key = built.key;
  const int64_t others = context_.count();
  const auto number = [&](double value, Shape shape) {
    Tensor all = Tensor::zeros(shape, key.dtype);
    all.fill(value);
    return graph.constant(all, kRowsSeen);
  };
  const Value seen = built.inputs[kRowsSeen] =
      graph.input(kRowsSeen, {key.batch, others}, key.dtype, InputRole::kGiven);
  const Value all = concat(graph, number(1, {key.batch, 1}), seen, 1, kRowsSeen);
  const Value hidden = add(graph, all, number(-1, {1, 1}), kRowsSeen);
  const Value scores =
      binary(graph, hidden, number(-kUnseen, {1, 1}), BinaryFunction::kMultiply, kRowsSeen);
  const Value mask = reshape(graph, scores, {key.batch, 1, 1, 1 + others}, kRowsSeen);
  if (!context_.as_tokens || context_.kind != RowsAttended::Kind::kFrozen) return mask;
  Tensor explained = Tensor::zeros({1, 1, 1 + others, 1 + others}, key.dtype);
  explained.slice(3, 0, 1).slice(2, 1, others).fill(kUnseen);
  return add(graph, mask, graph.constant(explained, "context/frozen"), "context/mask");
}

const RowsAttended& CheckpointRowSource::attended(DType type) const {
  const std::lock_guard lock(mutex_);
  const auto known = attended_.find(type);
  return known != attended_.end() ? known->second : attended_[type] = context_rows(type);
}

// What the context's rows are among themselves.
RowsAttended CheckpointRowSource::context_rows(DType type) const {
  using Kind = RowsAttended::Kind;
  RowsAttended result{.kind = context_.kind, .keys = {}, .values = {}, .tokens = {}};
  if (context_.rows.empty()) return result;
  ModelGraph built;
  built.key = {.batch = static_cast<int64_t>(context_.rows.size()), .dtype = type};
  GraphBuilder graph;
  const TableInputs inputs = add_inputs(graph, built);
  const RowsAttended among{.kind = Kind::kTogether, .keys = {}, .values = {}, .tokens = {}};
  TableEncoder encoder(graph, weights(), table_, heads_, type, built.key.batch, among);
  family_.answer(encoder, inputs);
  std::vector<Value> wanted{encoder.tokens()};
  for (const TableEncoder::RowSite& site : encoder.row_sites())
    wanted.insert(wanted.end(), {site.keys, site.values});
  built.graph = graph.finish();
  Feeds feeds;
  feed(built, context_.rows, feeds);
  const Pass pass = run(built.graph, feeds, {.keep = Keep::kOutputs, .outputs = wanted});
  result.tokens = pass[encoder.tokens()];
  for (const TableEncoder::RowSite& site : encoder.row_sites()) {
    result.keys.push_back(pass[site.keys].contiguous());
    result.values.push_back(pass[site.values].contiguous());
  }
  return result;
}

CheckpointRowSource::CheckpointRowSource(const CheckpointRowSource& alone, RowContext context)
    : RowSource(alone.facts()),
      spec_(alone.spec_),
      checkpoint_(alone.checkpoint_),
      family_(alone.family_),
      table_(alone.table_),
      heads_(alone.heads_),
      has_missing_(alone.has_missing_),
      answers_(alone.answers_),
      context_(std::move(context)) {
  for (const Sample& sample : context_.rows) check_ids(sample);
}

std::shared_ptr<const RowSource> CheckpointRowSource::in_context(std::vector<Sample> rows,
                                                                 ContextMode mode) const {
  using Kind = RowsAttended::Kind;
  if (!rows_attend()) return RowSource::in_context(std::move(rows), mode);
  const Kind kind = rows.empty()                 ? Kind::kAlone
                    : mode == ContextMode::kLive ? Kind::kLive
                                                 : Kind::kFrozen;
  return std::make_shared<CheckpointRowSource>(*this, RowContext{kind, std::move(rows)});
}

std::shared_ptr<const RowSource> CheckpointRowSource::in_blocks() const {
  if (!rows_attend()) return RowSource::in_blocks();
  return std::make_shared<CheckpointRowSource>(*this, RowContext{RowsAttended::Kind::kTogether});
}

RowsExplained CheckpointRowSource::by_rows() const {
  if (context_.rows.empty()) return RowSource::by_rows();
  RowContext context = context_;
  context.may_leave_out = true;
  auto leaving_out = std::make_shared<CheckpointRowSource>(*this, context);
  context.as_tokens = true;
  return {std::make_shared<CheckpointRowSource>(*this, std::move(context)), std::move(leaving_out)};
}

int64_t CheckpointRowSource::max_rows_at_once(int64_t) const {
  if (context_.kind != RowsAttended::Kind::kLive && !context_.as_tokens) return kMostTableRows;
  // Each has the rows of its context beside it.
  constexpr int64_t kMostTogether = 1 << 12;
  return std::max<int64_t>(1, kMostTogether / static_cast<int64_t>(1 + context_.rows.size()));
}

std::string CheckpointRowSource::why_no_maps() const {
  if (context_.kind == RowsAttended::Kind::kLive && !context_.as_tokens) {
    return "in a live context the other rows run through the same layers as the explained one, and "
           "maps of its columns are not told apart from theirs; a frozen context has them";
  }
  if (!table_.mixes_keys) return {};
  return fmt::format(
      "the keys of {} are learned mixtures of all columns (Linformer), so that its attention maps "
      "do not say which column is looked at",
      family_.package);
}

std::string CheckpointRowSource::column_at(std::string_view input, int64_t at) const {
  for (const ColumnSpec& column : spec_.columns) {
    if (column.input == input && std::ranges::find(column.at, at) != column.at.end())
      return fmt::format("'{}'", column.name);
  }
  return fmt::format("{} of '{}'", at, input);
}

// One table has the rows of all columns, so that an id too high would pick another column's.
void CheckpointRowSource::check_ids(const Sample& sample) const {
  const auto ids = sample.find("x_cat");
  if (ids == sample.end()) return;
  const auto* id = ids->second.data<int64_t>();
  for (int64_t at = 0; at < table_.categories(); ++at) {
    if (id[at] >= 0 && id[at] < table_.category_counts[at]) continue;
    throw InvalidInput(fmt::format("column {} has the id {}, but the model knows 0 to {} there",
                                   column_at("x_cat", at), id[at], table_.category_counts[at] - 1));
  }
}

void CheckpointRowSource::feed(const ModelGraph& graph, std::span<const Sample> samples,
                               Feeds& feeds) const {
  for (const Sample& sample : samples) check_ids(sample);
  GraphSource::feed(graph, samples, feeds);
}

}  // namespace

std::shared_ptr<const RowSource> checkpoint_row_source(const TableSpec& spec, StoredTensors tensors,
                                                       std::string name) {
  return std::make_shared<CheckpointRowSource>(spec, std::move(tensors), std::move(name));
}

std::vector<int64_t> possible_heads(const TableSpec& spec, const StoredTensors& tensors) {
  const Checkpoint checkpoint(without_wrapper(tensors), "its family");
  const TableWeights weights{checkpoint, spec};
  const TableFacts facts = table_family_of(weights).facts(weights);
  std::vector<int64_t> heads = facts.possible_heads;
  if (facts.heads) {
    std::erase(heads, *facts.heads);
    heads.insert(heads.begin(), *facts.heads);
  }
  return heads;
}

}  // namespace whyformer
