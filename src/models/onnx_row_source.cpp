// Rows of tables in an ONNX file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "discovery/axis_use.h"
#include "models/onnx_graph.h"
#include "models/onnx_source.h"
#include "models/picked_rows.h"
#include "models/sample_ranges.h"
#include "models/table_answers.h"
#include "models/table_files.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kMostRows = 1 << 20;
constexpr int64_t kMostColumns = 1 << 16;

// Tokens of a text are integers in rows as well, but a row of a table has numbers or a name of its
// own.
bool is_text_input(const std::string& name) {
  return name == "input_ids" || name == "attention_mask" || name == "token_type_ids" ||
         name.ends_with("_ids");
}

bool takes_rows(const onnx::OnnxFile& file) {
  for (const onnx::DeclaredValue& input : file.graph.inputs) {
    if (input.shape.size() != 2 || is_text_input(input.name)) return false;
  }
  return !file.graph.inputs.empty();
}

// Whole numbers that are used as numbers.
Value cast_of(const Graph& graph, Value input) {
  for (const int user : graph.users(input)) {
    const Node& node = graph.nodes()[user];
    if (is_a<ops::Cast>(*node.op) && graph.type(node.outputs[0]).dtype != DType::kInt64)
      return node.outputs[0];
  }
  return {};
}

// The vectors that columns pick, and which columns do.
std::vector<bool> add_picked_rows(const Graph& graph, const std::string& name, Value input,
                                  std::vector<Entry>& entries) {
  const Shape& shape = graph.shape(input);
  std::vector<bool> pick(shape[1], false);
  for (const PickedRows& picked : rows_picked_by(graph, input)) {
    const int64_t first = picked.positions ? picked.positions->start : 0;
    const int64_t count = picked.positions ? picked.positions->length : shape[1];
    const Shape& rows = graph.shape(picked.rows);
    const bool each = rows.size() == 3 && rows[1] == count;
    const bool one = rows.size() == 2 && count == 1;
    if (rows[0] != shape[0] || !(each || one)) continue;
    entries.push_back({picked.rows, name, first, std::vector<bool>(count, true)});
    std::fill_n(pick.begin() + first, count, true);
  }
  return pick;
}

// Columns of real numbers that are cut to whole ones: no gradient passes there.
void leave_out_cut_columns(const Graph& graph, Value input, std::vector<bool>& columns) {
  for (const Node& node : graph.nodes()) {
    if (!is_a<ops::Cast>(*node.op) || graph.type(node.outputs[0]).dtype != DType::kInt64) continue;
    Value value = node.inputs[0];
    std::optional<SlicedRows> positions;
    while (value != input && graph.producer(value) >= 0) {
      const Node& before = graph.nodes()[graph.producer(value)];
      const auto rows = sliced_rows(*before.op);
      if ((!rows && !is_a<ops::Reshape>(*before.op)) || (rows && (positions || rows->axis != 1)))
        break;
      if (rows) positions = rows;
      value = before.inputs[0];
    }
    if (value != input) continue;
    if (positions)
      std::fill_n(columns.begin() + positions->start, positions->length, false);
    else if (graph.users(input).size() == 1)
      columns.assign(columns.size(), false);
  }
}

void add_entries(const Graph& graph, const std::string& name, Value input,
                 std::vector<Entry>& entries) {
  std::vector<bool> others = add_picked_rows(graph, name, input, entries);
  others.flip();
  const bool whole = graph.type(input).dtype == DType::kInt64;
  if (!whole) leave_out_cut_columns(graph, input, others);
  if (std::ranges::count(others, true) == 0) return;
  const Value numbers = whole ? cast_of(graph, input) : input;
  if (numbers.valid() && graph.shape(numbers) == graph.shape(input))
    entries.push_back({numbers, name, 0, others});
}

// Rows that run beside the explained ones, where rows attend to each other.
struct RowsBeside {
  enum class Kind { kNotTold, kNone, kContext, kBlock };
  Kind kind = Kind::kNotTold;
  std::vector<Sample> context = {};
};

// Adds a graph whose inputs are values that are there already.
void add_graph(const Graph& graph, std::vector<Value>& new_value, GraphBuilder& builder) {
  for (const Node& node : graph.nodes()) {
    std::vector<Value> inputs;
    for (const Value input : node.inputs) inputs.push_back(new_value[input.id]);
    const std::vector<Value> outputs = builder.add_all(node.op, std::move(inputs), node.name);
    for (size_t i = 0; i < outputs.size(); ++i) new_value[node.outputs[i].id] = outputs[i];
  }
}

class OnnxRowSource final : public RowSource {
 public:
  // `task` is what table.json says of the answers, where there is one.
  OnnxRowSource(std::shared_ptr<const onnx::OnnxModel> model, const Config& config,
                std::string name, const std::string& output, std::optional<TaskSpec> task);

  OnnxRowSource(const OnnxRowSource& other, RowsBeside beside);

  std::vector<TableColumn> columns(int64_t total) const override;
  std::vector<std::string> output_names(int64_t columns) const override;
  std::optional<Problem> problem(int64_t columns) const override;
  int64_t max_rows_at_once(int64_t columns) const override;
  bool rows_attend() const override;
  bool can_freeze() const override { return false; }
  std::shared_ptr<const RowSource> in_context(std::vector<Sample> rows,
                                              ContextMode mode) const override;
  std::shared_ptr<const RowSource> in_blocks() const override;
  RowsExplained by_rows() const override;
  std::string why_no_maps() const override;

  int64_t parameter_count() const override { return model_->file().parameters().numbers; }
  int64_t tensor_count() const override { return model_->file().parameters().tensors; }

 private:
  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const override;
  Value presented(OnnxGraph& imported, int64_t width) const;
  onnx::BuildRequest request_for(const ShapeKey& key) const;
  // Of the file; what is shown may be more.
  int64_t output_width(int64_t columns) const;
  TableAnswers answers(int64_t columns) const { return {*task_, output_width(columns)}; }
  int64_t rows_that_stay_apart(int64_t columns) const;
  std::optional<std::string> attending_input(int64_t columns) const;
  OnnxGraph graph_of(const ShapeKey& key) const;
  OnnxGraph graph_in_context(const ShapeKey& key) const;

  Config config_;
  std::optional<TaskSpec> task_;
  std::shared_ptr<const onnx::OnnxModel> model_;
  std::string output_;
  int64_t most_rows_ = 1;
  RowsBeside beside_;
  mutable std::mutex mutex_;
  // By the number of columns.
  mutable std::map<int64_t, int64_t> most_rows_at_once_;
  mutable std::map<int64_t, int64_t> output_widths_;
};

OnnxRowSource::OnnxRowSource(std::shared_ptr<const onnx::OnnxModel> model, const Config& config,
                             std::string name, const std::string& asked,
                             std::optional<TaskSpec> task)
    : RowSource({.name = std::move(name),
                 .architecture = config.model_type().empty() ? "ONNX" : config.model_type()}),
      config_(config),
      task_(std::move(task)),
      model_(std::move(model)) {
  facts_.native = native_names_of(model_->file());
  most_rows_ = kMostRows;
  for (const onnx::DeclaredValue& input : model_->file().graph.inputs) {
    if (input.shape[0] > 0) most_rows_ = std::min(most_rows_, input.shape[0]);
  }
  check_output(model_->file(), asked);
  output_ = asked;
  for (const auto& output : model_->file().graph.outputs) {
    if (!asked.empty()) break;
    if (output_.empty() || output.name.find("logits") != output.name.npos) output_ = output.name;
  }
}

std::vector<TableColumn> OnnxRowSource::columns(int64_t total) const {
  const auto& inputs = model_->file().graph.inputs;
  int64_t known = 0;
  std::vector<std::string> open;
  for (const onnx::DeclaredValue& input : inputs) {
    if (input.shape[1] > 0)
      known += input.shape[1];
    else
      open.push_back(input.name);
  }
  if (open.size() > 1) {
    throw UnsupportedModel(fmt::format(
        "the inputs '{}' and '{}' may have any number of columns each: export the model "
        "with fixed ones",
        open[0], open[1]));
  }
  if (total > kMostColumns || (open.empty() ? total != known : total <= known)) {
    throw InvalidInput(fmt::format("the model takes {}{} columns, but the table has {}",
                                   open.empty() ? "" : "more than ", known, total));
  }
  std::vector<TableColumn> columns;
  for (const onnx::DeclaredValue& input : inputs) {
    const int64_t width = input.shape[1] > 0 ? input.shape[1] : total - known;
    for (int64_t i = 0; i < width; ++i)
      columns.push_back({input.name, i, !onnx::is_float(input.type)});
  }
  return columns;
}

onnx::BuildRequest OnnxRowSource::request_for(const ShapeKey& key) const {
  onnx::BuildRequest request;
  request.floats = key.dtype;
  for (const auto& [name, shape] : key.shapes) {
    request.inputs[name] = {{key.batch, shape[0]}, std::nullopt, InputRole::kExplained};
  }
  return request;
}

OnnxRowSource::OnnxRowSource(const OnnxRowSource& other, RowsBeside beside)
    : RowSource(other.facts()),
      config_(other.config_),
      task_(other.task_),
      model_(other.model_),
      output_(other.output_),
      most_rows_(other.most_rows_),
      beside_(std::move(beside)) {}

int64_t OnnxRowSource::max_rows_at_once(int64_t columns) const {
  if (beside_.kind == RowsBeside::Kind::kBlock) return most_rows_;
  if (beside_.kind != RowsBeside::Kind::kNotTold) return 1;
  {
    const std::lock_guard lock(mutex_);
    const auto known = most_rows_at_once_.find(columns);
    if (known != most_rows_at_once_.end()) return known->second;
  }
  const int64_t most = rows_that_stay_apart(columns);
  const std::lock_guard lock(mutex_);
  return most_rows_at_once_[columns] = most;
}

// Asked of two rows, in the graph.
int64_t OnnxRowSource::rows_that_stay_apart(int64_t columns) const {
  if (const auto input = attending_input(columns)) {
    throw UnsupportedModel(
        fmt::format("the rows of '{}' attend to each other in this model (as in SAINT): its answer "
                    "for a row depends on the rows that run with it. Say which rows it is to be "
                    "explained with, its context: rows of a file, its block of the table, or none "
                    "(alone)",
                    *input));
  }
  if (most_rows_ == 1) return 1;
  onnx::BuildRequest of_two = request_for(key_for(columns, {.batch = 2}));
  of_two.outputs = {output_};
  onnx::BuiltGraph built;
  try {
    built = model_->build(of_two);
  } catch (const InvalidInput&) {
    return 1;  // one row is written into the file, or the file says what is wrong with one
  }
  for (const auto& [name, value] : built.inputs) {
    if (!AxisUse(built.graph, value, 0).stays_apart()) return 1;
  }
  return has_dynamic_ranges(built.graph)
             ? std::min(most_rows_, most_together(*model_, of_two, output_))
             : most_rows_;
}

// The file's answers as table.json says that they are to be read.
Value OnnxRowSource::presented(OnnxGraph& imported, int64_t width) const {
  const Shape answer = imported.graph.shape(imported.output);
  GraphBuilder builder(std::move(imported.graph), Folding::kNo);
  Value output = imported.output;
  if (answer.size() == 1) output = reshape(builder, output, {answer[0], 1}, "answers");
  output = TableAnswers(*task_, width).presented(builder, output);
  imported.graph = builder.finish();
  return output;
}

// The input whose rows attend to each other, if any.
std::optional<std::string> OnnxRowSource::attending_input(int64_t columns) const {
  if (most_rows_ == 1) return std::nullopt;
  onnx::BuildRequest of_two = request_for(key_for(columns, {.batch = 2}));
  of_two.outputs = {output_};
  try {
    const onnx::BuiltGraph built = model_->build(of_two);
    for (const auto& [name, value] : built.inputs) {
      if (AxisUse(built.graph, value, 0).has_attention()) return name;
    }
  } catch (const InvalidInput&) {
    return std::nullopt;  // one row is written into the file
  }
  return std::nullopt;
}

// Where the file leaves the number of columns open, that shows with the first row.
bool OnnxRowSource::rows_attend() const {
  if (beside_.kind != RowsBeside::Kind::kNotTold) return true;
  int64_t columns = 0;
  for (const onnx::DeclaredValue& input : model_->file().graph.inputs) {
    if (input.shape[1] <= 0) return false;
    columns += input.shape[1];
  }
  return attending_input(columns).has_value();
}

std::shared_ptr<const RowSource> OnnxRowSource::in_context(std::vector<Sample> rows,
                                                           ContextMode mode) const {
  if (!rows_attend()) return RowSource::in_context(std::move(rows), mode);
  const auto beside = rows.empty() ? RowsBeside::Kind::kNone : RowsBeside::Kind::kContext;
  return std::make_shared<OnnxRowSource>(*this, RowsBeside{beside, std::move(rows)});
}

std::shared_ptr<const RowSource> OnnxRowSource::in_blocks() const {
  if (!rows_attend()) return RowSource::in_blocks();
  return std::make_shared<OnnxRowSource>(*this, RowsBeside{RowsBeside::Kind::kBlock});
}

RowsExplained OnnxRowSource::by_rows() const {
  throw UnsupportedModel(
      "which rows of its context count is not told of ONNX files: give the checkpoint that the "
      "file was exported from");
}

std::string OnnxRowSource::why_no_maps() const {
  if (beside_.kind == RowsBeside::Kind::kNotTold) return {};
  return "the rows of this ONNX file attend to each other, and its maps of columns are not told "
         "apart from those of rows";
}

OnnxGraph OnnxRowSource::graph_of(const ShapeKey& key) const {
  if (beside_.kind == RowsBeside::Kind::kContext) return graph_in_context(key);
  return build_onnx(*model_, request_for(key), output_, key.batch);
}

// The explained row runs in front of its context, and its answer is kept.
OnnxGraph OnnxRowSource::graph_in_context(const ShapeKey& key) const {
  if (key.batch != 1) throw InvalidInput("rows with a context run one at a time");
  ShapeKey of_all = key;
  of_all.batch = 1 + static_cast<int64_t>(beside_.context.size());
  const OnnxGraph all = build_onnx(*model_, request_for(of_all), output_, of_all.batch);
  GraphBuilder builder;
  OnnxGraph result;
  std::vector<Value> new_value(all.graph.value_count());
  for (const auto& [name, value] : all.inputs) {
    if (!value.valid()) continue;
    const DType dtype = all.graph.type(value).dtype;
    const Value row = result.inputs[name] =
        builder.input(name, {1, all.graph.shape(value)[1]}, dtype);
    const Value context =
        builder.constant(stacked(beside_.context, name).cast(dtype), name + "/context");
    new_value[value.id] = concat(builder, row, context, 0, name + "/all");
  }
  add_graph(all.graph, new_value, builder);
  result.output = slice(builder, new_value[all.output.id], 0, 0, 1, "explained_row");
  result.graph = builder.finish();
  return result;
}

std::shared_ptr<const ModelGraph> OnnxRowSource::build(const ShapeKey& key) const {
  const int64_t rows = key.batch;
  if (rows < 1 || rows > kMostRows) {
    throw InvalidInput(fmt::format("{} rows at once: at most {}", rows, kMostRows));
  }
  int64_t columns = 0;
  for (const auto& [name, shape] : key.shapes) columns += shape[0];
  max_rows_at_once(columns);  // rows that attend to each other have no answers of their own
  auto built = std::make_shared<ModelGraph>();
  built->key = key;
  OnnxGraph imported = graph_of(key);
  built->inputs = imported.inputs;
  built->output = imported.output;
  const Shape answer = imported.graph.shape(built->output);
  if (answer.empty() || answer[0] != rows || answer.size() > 2) {
    throw UnsupportedModel(fmt::format(
        "the output '{}' has the shape {} for {} rows: expected some numbers for each row", output_,
        to_string(answer), rows));
  }
  const int64_t width = answer.size() == 2 ? answer[1] : 1;
  {
    const std::lock_guard lock(mutex_);
    output_widths_[columns] = width;
  }
  if (task_) built->output = presented(imported, width);
  Value input = imported.graph.inputs()[0];
  const bool in_context = beside_.kind == RowsBeside::Kind::kContext;
  for (const onnx::DeclaredValue& one : model_->file().graph.inputs) {
    const Value value = imported.input(one.name);
    if (!value.valid()) continue;
    // Vectors that the context picks stand beside the row's own.
    if (in_context && onnx::is_float(one.type)) {
      built->entries.push_back(
          {value, one.name, 0, std::vector<bool>(imported.graph.shape(value)[1], true)});
    }
    if (!in_context) add_entries(imported.graph, one.name, value, built->entries);
    const bool first_of_numbers =
        onnx::is_float(one.type) && imported.graph.type(input).dtype == DType::kInt64;
    if (first_of_numbers) input = value;
  }
  built->embeddings = built->layers_input = input;
  if (beside_.kind != RowsBeside::Kind::kNotTold) {
    keep_what_is_read(imported.graph, *built);
    return built;
  }
  built->layers_input =
      first_layer_input(imported.graph, discover(imported.graph, built->output, rows), input);
  built->embeddings = built->layers_input;
  finish_graph(imported.graph, *built, rows);
  return built;
}

int64_t OnnxRowSource::output_width(int64_t columns) const {
  graph(key_for(columns));
  const std::lock_guard lock(mutex_);
  return output_widths_.at(columns);
}

std::vector<std::string> OnnxRowSource::output_names(int64_t columns) const {
  return task_ ? answers(columns).names() : config_.labels(output_width(columns));
}

std::optional<Problem> OnnxRowSource::problem(int64_t columns) const {
  return task_ ? answers(columns).problem() : config_.problem(output_width(columns));
}

}  // namespace

std::shared_ptr<const RowSource> onnx_row_source(const OnnxDocument& document, std::string name,
                                                 const std::string& output) {
  if (!takes_rows(document.model->file())) return nullptr;
  std::optional<TaskSpec> task;
  if (const std::optional<Bytes> table = document.files(kTableSpecFile)) {
    task = parse_table_spec(*table, kTableSpecFile).task;
  }
  return std::make_shared<OnnxRowSource>(document.model, document.config(), std::move(name), output,
                                         std::move(task));
}

}  // namespace whyformer
