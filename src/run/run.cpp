#include "run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/bytes.h"
#include "base/pulse.h"
#include "graph/walk_back.h"
#include "relevance/policy_check.h"
#include "run/attention_math.h"
#include "run/missing.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Tensor one_hot(int64_t batch, int64_t classes, int64_t index, DType dtype) {
  Tensor seed = Tensor::zeros({batch, classes}, dtype);
  seed.slice(1, index, 1).fill(1);
  return seed;
}

Policy policy_of(const std::string& name) {
  if (!name.ends_with(".json")) return policy_named(name);
  return parse_policy(map_file(name).text(), name);
}

// Ids that pick rows of a table have neither gradient nor relevance.
bool is_number(const Graph& graph, Value value) {
  return !value.valid() || graph.type(value).dtype != DType::kInt64;
}

void require_number(const Graph& graph, Value value) {
  if (is_number(graph, value)) return;
  throw MissingForMethod(
      Missing::kEntrance,
      "the model's inputs are ids and its embedding table was not recognised, so "
      "there is no gradient to read");
}

}  // namespace

Run::Run(Input input, Settings settings)
    : input_(std::move(input)), settings_(std::move(settings)) {
  const auto start = Clock::now();
  const FedGraph own = input_.copies(1);
  graph_ = own.graph;
  run_shared(own.feeds);
  spent_.forwards = 1;
  run_seconds_ = shared_seconds_ = seconds_since(start);
}

void Run::run_shared(const Feeds& feeds) {
  const PulseScope pulses(pulse_question());
  const Needs& needs = settings_.needs;
  RunOptions options{.outputs = values_needed(*graph_, needs)};
  options.outputs.push_back(graph_->output);
  options.keep = walks_back(needs) ? Keep::kGradients : Keep::kOutputs;
  if (needs.values) options.keep = Keep::kEverything;
  pass_ = std::make_unique<const Pass>(run(graph_->graph, feeds, options));
  outputs_ = (*pass_)[graph_->output].to_doubles();
}

void Run::set_target(int64_t index) {
  if (batch_ != nullptr) batch_->set_target(number_, index);
  if (index == target_) return;
  target_ = index;
  forget_walks();  // they start at the target
}

void Run::forget_walks() noexcept {
  gradient_walk_.reset();
  relevance_walks_.clear();
  walk_seconds_.clear();
  walks_read_.clear();
}

Tensor Run::rows_at(Depth depth, const std::function<Tensor(Value)>& value_of) const {
  read_input_ = read_input_ || depth == Depth::kInput;
  std::vector<Tensor> values;
  for (const Value value : graph_->values_at(depth)) values.push_back(value_of(value));
  return input_.rows(depth, values);
}

void Run::require_one_stream(const std::string& method, const std::string& why) const {
  if (!several_streams()) return;
  throw InvalidInput(fmt::format("{} has no meaning for a model of {} token streams: {}", method,
                                 input_.streams().size(), why));
}

// One walk serves all gradients that any method of the call reads; it goes as far down as they do.
Tensor Run::gradient_at(Value value) {
  require_number(graph_->graph, value);
  const auto start = Clock::now();
  if (const std::optional<Tensor> own = gradient_of_batch(value)) {
    count_walk(batch_.get(), seconds_since(start));
    return own->select(0, 0).contiguous();
  }
  if (gradient_walk_ == nullptr) {
    std::vector<Value> wanted;
    if (settings_.needs.embedding_gradient) wanted = graph_->entrances();
    std::erase_if(wanted, [&](Value value) { return !is_number(graph_->graph, value); });
    if (settings_.needs.attention_gradient) {
      for (const AttentionSite& site : graph_->found.sites) wanted.push_back(site.attention);
    }
    const Tensor seed =
        one_hot(1, static_cast<int64_t>(outputs_.size()), target_, input_.kind().dtype);
    gradient_walk_ = std::make_unique<BackwardWalk>(graph_->graph, *pass_, graph_->output, seed,
                                                    gradient_rule(), wanted);
  }
  const Tensor gradient = gradient_walk_->at(value);
  count_walk(gradient_walk_.get(), seconds_since(start));
  return gradient.select(0, 0).contiguous();
}

void Run::require_maps() const {
  if (layers() == 0) throw MissingForMethod(Missing::kMaps, kNoAttention);
  if (input_.has_maps()) return;
  throw MissingForMethod(Missing::kMaps, input_.why_no_maps());
}

void Run::require_maps_of_units() const {
  require_maps();
  if (input_.attends_by_unit()) return;
  throw InvalidInput(
      "some columns of this table are several tokens of the model, so that maps have no single row "
      "for them");
}

Tensor Run::attention(int layer) const {
  require_maps();
  return over_tokens(layer,
                     (*pass_)[graph_->found.sites[layer].attention].select(0, 0).contiguous());
}

Tensor Run::attention_gradient(int layer) {
  require_maps();
  return over_tokens(layer, gradient_at(graph_->found.sites[layer].attention));
}

Tensor Run::over_tokens(int layer, const Tensor& map) const {
  const AttentionSite& site = graph_->found.sites[layer];
  if (!site.first_query && !site.first_key) return map;
  const int64_t tokens = graph_->found.streams[site.query_stream].tokens;
  const Tensor own = site.first_key ? map.slice(2, *site.first_key, tokens) : map;
  Tensor whole = Tensor::zeros({map.dim(0), tokens, tokens}, map.dtype());
  whole.slice(1, site.first_query.value_or(0), site.queries).copy_from(own);
  return whole;
}

Tensor Run::embeddings(Depth depth) const {
  return rows_at(depth, [this](Value value) { return (*pass_)[value].select(0, 0).contiguous(); });
}

Tensor Run::embedding_gradient(Depth depth) {
  return rows_at(depth, [this](Value value) { return gradient_at(value); });
}

RelevanceWalk& Run::relevance_walk(const RelevanceKind& kind) {
  if (!settings_.needs.values) throw Error("relevance needs a run that kept every value");
  std::unique_ptr<RelevanceWalk>& walk = relevance_walks_[kind];
  if (walk == nullptr) {
    std::vector<Value> wanted = graph_->entrances();
    std::erase_if(wanted, [&](Value value) { return !is_number(graph_->graph, value); });
    for (const AttentionSite& site : graph_->found.sites) wanted.push_back(site.attention);
    Policy policy = policy_of(kind.policy);
    policy_notes_[kind.policy] = check_policy(policy, graph_->graph);
    walk =
        std::make_unique<RelevanceWalk>(graph_->graph, *pass_, graph_->output, std::vector{target_},
                                        std::move(policy), kind.form, wanted, kind.notes);
  }
  return *walk;
}

std::vector<std::string> Run::policy_notes(const std::string& policy) const {
  const auto found = policy_notes_.find(policy);
  return found == policy_notes_.end() ? std::vector<std::string>() : found->second;
}

void Run::count_walk(const void* walk, double seconds) {
  walks_read_.insert(walk);
  walk_seconds_[walk] += seconds;
  shared_seconds_ += seconds;
}

double Run::seconds_read() const {
  double seconds = run_seconds_;
  for (const void* walk : walks_read_) seconds += walk_seconds_.at(walk);
  return seconds;
}

Tensor Run::relevance_at(const RelevanceKind& kind, Value value) {
  require_number(graph_->graph, value);
  const auto start = Clock::now();
  RelevanceWalk& walk = relevance_walk(kind);
  const Tensor relevance = walk.at(value);
  count_walk(&walk, seconds_since(start));
  return relevance.select(0, 0).contiguous();
}

const std::vector<NodeFlow>& Run::relevance_flows(const RelevanceKind& kind) {
  for (const Value value : graph_->values_at(Depth::kInput)) relevance_at(kind, value);
  return relevance_walk(kind).flows();
}

Tensor Run::attention_relevance(const RelevanceKind& kind, int layer) {
  require_maps();
  return over_tokens(layer, relevance_at(kind, graph_->found.sites[layer].attention));
}

Tensor Run::embedding_relevance(const RelevanceKind& kind, Depth depth) {
  return rows_at(depth, [&](Value value) { return relevance_at(kind, value); });
}

const ReadOut& Run::found_read_out() const {
  return settings_.read_out ? *settings_.read_out : graph_->found.read_out;
}

std::vector<double> Run::read_out() const {
  require_maps();
  const ReadOut& found = found_read_out();
  if (input_.of_element() && !settings_.read_out && !found.read.valid() &&
      found.kind != ReadOut::Kind::kRow) {
    throw MissingForMethod(Missing::kMaps,
                           "read-out not recognised: no attention row to start from");
  }
  if (found.kind == ReadOut::Kind::kShares && !several_streams()) return found.shares;
  if (tokens() > 1 && found.read.valid()) {
    if (measured_read_out_.empty()) measured_read_out_ = measured_read_out();
    return measured_read_out_;
  }
  const int64_t first = std::max<int64_t>(found.row, 0);
  const bool some = found.kind == ReadOut::Kind::kRow || found.kind == ReadOut::Kind::kMean;
  const int64_t rows = tokens() == 1 ? 1 : some ? found.rows : tokens();
  std::vector<double> shares(tokens(), 0);
  for (int64_t i = 0; i < rows; ++i) {
    shares[tokens() == 1 ? 0 : some ? first + i : i] = 1 / static_cast<double>(rows);
  }
  return shares;
}

std::vector<double> Run::measured_read_out() const {
  const ReadOut& found = found_read_out();
  const Graph& graph = graph_->graph;
  const Pass pass =
      run(graph, input_.copies(1).feeds, {Keep::kGradients, {graph_->output, found.read}});
  // Different weights for the outputs, so that their gradients do not cancel. Of arrays, whose
  // output is a row or one element of it, always the element.
  Tensor seed = Tensor::zeros(graph.shape(graph_->output), DType::kFloat64);
  const bool one = input_.of_element();
  for (int64_t i = 0; i < seed.size(); ++i) {
    if (!one || i == target_) seed.mutable_data<double>()[i] = 1 + i;
  }
  const auto gradients = walk_back(graph, pass, graph_->output, seed.cast(input_.kind().dtype),
                                   gradient_rule(), {found.read});
  const std::vector<double> shares = shares_along(gradients.at(found.read), found.axis);
  const int64_t first =
      found.first + (several_streams() ? input_.streams()[found.stream].first : 0);
  std::vector<double> by_unit(static_cast<size_t>(first), 0.0);
  by_unit.insert(by_unit.end(), shares.begin(), shares.end());
  by_unit.resize(std::max(by_unit.size(), static_cast<size_t>(tokens())), 0.0);
  return by_unit;
}

std::optional<int64_t> Run::read_out_row() const {
  if (layers() == 0 || !input_.has_maps()) return std::nullopt;
  const std::vector<double> shares = read_out();
  const auto row = std::find(shares.begin(), shares.end(), 1.0);
  if (row == shares.end()) return std::nullopt;
  return row - shares.begin();
}

int64_t Run::most_inputs_at_once() const {
  const int64_t fitting = whyformer::most_inputs_at_once(
      *graph_, tokens_in(*graph_, input_.units()), settings_.memory_bytes);
  return std::min(fitting, input_.max_at_once());
}

namespace {

// Numbers of inputs, equal ones and those that can run together side by side.
void sort_to_run(const std::vector<Variant>& inputs, std::vector<size_t>& numbers) {
  std::ranges::sort(numbers, {}, [&](size_t i) {
    using Key = std::tuple<int64_t, size_t, const Variant&>;
    return Key(inputs[i].front(), inputs[i].size(), inputs[i]);
  });
}

bool can_run_together(const Variant& a, const Variant& b) {
  return a.front() == b.front() && a.size() == b.size();
}

}  // namespace

std::vector<std::vector<double>> Run::answers(const std::vector<Variant>& inputs, Report report) {
  std::vector<std::vector<double>> results(inputs.size());
  std::vector<size_t> unknown;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto* known = memo_.find(inputs[i]);
    if (known != nullptr)
      results[i] = *known;
    else
      unknown.push_back(i);
  }
  sort_to_run(inputs, unknown);
  const auto step = static_cast<size_t>(most_inputs_at_once());
  for (size_t begin = 0, end = 0; begin < unknown.size(); begin = end) {
    std::vector<Variant> batch;
    std::vector<size_t> place;  // in the batch
    for (; end < unknown.size(); ++end) {
      const Variant& next = inputs[unknown[end]];
      if (batch.empty() || next != batch.back()) {
        if (batch.size() == step || (!batch.empty() && !can_run_together(next, batch[0]))) break;
        batch.push_back(next);
      }
      place.push_back(batch.size() - 1);
    }
    const std::vector<std::vector<double>> answers = answers_together(batch);
    for (size_t i = begin; i < end; ++i) results[unknown[i]] = answers[place[i - begin]];
    if (report == Report::kYes) {
      report_progress(static_cast<int64_t>(end), static_cast<int64_t>(unknown.size()));
    }
  }
  return results;
}

std::vector<std::vector<double>> Run::answers_together(const std::vector<Variant>& batch) {
  const FedGraph together = input_.run_of(batch);
  const Value output = together.graph->output;
  const Pass pass = run(together.graph->graph, together.feeds, {.outputs = {output}});
  const std::vector<double> flat = pass[output].to_doubles();
  const auto classes = static_cast<int64_t>(outputs_.size());
  std::vector<std::vector<double>> answers;
  for (size_t i = 0; i < batch.size(); ++i) {
    const auto first = flat.begin() + static_cast<int64_t>(i) * classes;
    answers.emplace_back(first, first + classes);
    memo_.add(batch[i], answers.back(), settings_.memory_bytes / 4);
  }
  spent_.forwards += static_cast<int>(batch.size());
  return answers;
}

bool Run::has_probabilities() const {
  return input_.kind().head == Head::kLogits && settings_.problem &&
         *settings_.problem != Problem::kRegression;
}

double Run::in_space(OutputSpace space, const std::vector<double>& outputs) const {
  return whyformer::in_space(space, outputs, target_,
                             has_probabilities() ? settings_.problem : std::nullopt);
}

std::vector<Run::Slope> Run::slopes(Depth depth, const std::vector<Tensor>& replacements) {
  std::vector<Slope> results;
  const auto count = static_cast<int64_t>(replacements.size());
  const int64_t taken = each_slope(
      depth, count, [&](int64_t number) { return replacements[number]; },
      [&](int64_t, const Tensor&, const Slope& slope) { results.push_back(slope); });
  if (taken < count) throw Interrupted();
  return results;
}

int64_t Run::each_slope(Depth depth, int64_t count, const MakeReplacement& make,
                        const TakeSlope& take) {
  const int64_t step = most_inputs_at_once();
  int64_t done = 0;
  try {
    while (done < count) {
      std::vector<Tensor> replacements;
      for (int64_t i = 0; i < std::min(count - done, step); ++i)
        replacements.push_back(make(done + i));
      const std::vector<Slope> slopes = slopes_at_once(depth, replacements);
      for (size_t i = 0; i < slopes.size(); ++i)
        take(done + static_cast<int64_t>(i), replacements[i], slopes[i]);
      done += static_cast<int64_t>(slopes.size());
      report_progress(done, count);
    }
  } catch (const Interrupted&) {
    // What was taken before it stays.
  }
  return done;
}

std::vector<Run::Slope> Run::slopes_at_once(Depth depth, const std::vector<Tensor>& replacements) {
  const auto size = static_cast<int64_t>(replacements.size()),
             classes = static_cast<int64_t>(outputs_.size());
  FedGraph part = input_.copies(size);
  const Graph& graph = part.graph->graph;
  const Value output = part.graph->output;
  const std::vector<Value> at = part.graph->values_at(depth);
  for (const Value value : at)
    part.feeds[value] = Tensor::empty(graph.shape(value), input_.kind().dtype);
  for (int64_t i = 0; i < size; ++i) {
    const std::vector<Tensor> values = input_.from_rows(depth, replacements[i]);
    for (size_t k = 0; k < at.size(); ++k) part.feeds[at[k]].select(0, i).copy_from(values[k]);
  }
  const Pass pass = run(graph, part.feeds, {.keep = Keep::kGradients, .outputs = {output}});
  const auto gradients =
      walk_back(graph, pass, output, one_hot(size, classes, target_, input_.kind().dtype),
                gradient_rule(), at);
  const std::vector<double> values = pass[output].to_doubles();
  std::vector<Slope> results;
  for (int64_t i = 0; i < size; ++i) {
    std::vector<Tensor> slopes_there;
    for (const Value value : at)
      slopes_there.push_back(gradients.at(value).select(0, i).contiguous());
    results.push_back({values[i * classes + target_], input_.rows(depth, slopes_there)});
  }
  spent_.forwards += static_cast<int>(size);
  spent_.backwards += static_cast<int>(size);
  return results;
}

bool Run::goes_on(int64_t done, int64_t total) const {
  done_ = done;
  total_ = total;
  if (settings_.progress && !settings_.progress(done, total)) stopped_ = true;
  return !stopped_;
}

std::function<bool()> Run::pulse_question() const {
  if (!settings_.progress) return {};
  return [this] { return goes_on(done_, total_); };
}

void Run::report_progress(int64_t done, int64_t total) const {
  if (!goes_on(done, total)) throw Interrupted();
}

}  // namespace whyformer
