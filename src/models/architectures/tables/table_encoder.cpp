#include "models/architectures/tables/table_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kTableEpsilon = 1e-5;  // of every norm: PyTorch's default

struct NamedFunction {
  std::string_view name;
  ActivationFunction function;
  bool gated;
};
constexpr NamedFunction kFunctions[] = {
    {"relu", ActivationFunction::kRelu, false},  {"gelu", ActivationFunction::kGelu, false},
    {"silu", ActivationFunction::kSilu, false},  {"tanh", ActivationFunction::kTanh, false},
    {"reglu", ActivationFunction::kRelu, true},  {"geglu", ActivationFunction::kGelu, true},
    {"swiglu", ActivationFunction::kSilu, true}, {"tanglu", ActivationFunction::kTanh, true},
    {"glu", ActivationFunction::kSigmoid, true}};

std::string names_of_functions(bool gated) {
  std::string names;
  for (const NamedFunction& one : kFunctions) {
    if (one.gated == gated) names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  return names;
}

std::string lower(std::string word) {
  for (char& letter : word) letter = static_cast<char>(std::tolower(letter));
  return word;
}

void check_fits(const FeedForwardFunction& function, bool gated) {
  if (function.told.empty() || function.gated == gated) return;
  throw UnsupportedModel(
      fmt::format("the activation '{}' does not fit: the weights of the feed-forward part are {}, "
                  "so it is one of {}",
                  function.told, gated ? "gated" : "not gated", names_of_functions(gated)));
}

Value multiply(GraphBuilder& graph, Value a, Value b, const std::string& name) {
  return binary(graph, a, b, BinaryFunction::kMultiply, name);
}

}  // namespace

FeedForwardFunction function_of(const TableSpec& spec, ActivationFunction own) {
  const std::string told = lower(spec.model.activation);
  if (told.empty()) return {.function = own};
  for (const NamedFunction& one : kFunctions) {
    if (one.name == told) return {one.function, told, one.gated};
  }
  throw UnsupportedModel(fmt::format("table.json names the activation '{}'; known are {}, {}",
                                     spec.model.activation, names_of_functions(false),
                                     names_of_functions(true)));
}

LinearRows linear_named(const std::string& name) { return {name + ".weight", name + ".bias"}; }

LinearRows linear_without_bias(const std::string& name) { return {.weight = name + ".weight"}; }

LinearRows part_of(LinearRows whole, int64_t rows, int64_t part) {
  whole.first = rows * part;
  whole.count = rows;
  return whole;
}

Value TableEncoder::linear(Value x, const LinearRows& rows) {
  const int64_t in = graph_.shape(x).back();
  std::string name = rows.weight;
  if (name.ends_with(".weight")) name.resize(name.size() - 7);
  if (rows.count > 0) name += fmt::format("/{}", rows.first / rows.count);
  return whyformer::linear(graph_, x, weights_.tensors.linear(rows, in, type_), name);
}

Value TableEncoder::norm(Value x, const std::string& name) {
  const int64_t width = graph_.shape(x).back();
  return layer_norm(graph_, x, weights_.tensors.layer_norm(name, width, kTableEpsilon, type_),
                    name);
}

Value TableEncoder::activate(Value x, ActivationFunction function, const std::string& name) {
  return activation(graph_, x, function, name);
}

Value TableEncoder::times(Value x, const Tensor& factors, const std::string& name) {
  return multiply(graph_, x, graph_.constant(factors, name + "/factors"), name);
}

Value TableEncoder::plus(Value x, const Tensor& summand, const std::string& name) {
  return add(graph_, x, graph_.constant(summand, name + "/summand"), name);
}

Value TableEncoder::scaled_vectors(Value numbers, const std::string& weight) {
  return scaled_vectors(numbers, parameter(weight, {graph_.shape(numbers)[1], -1}), weight);
}

Value TableEncoder::scaled_vectors(Value numbers, const Tensor& vectors, const std::string& name) {
  const int64_t columns = graph_.shape(numbers)[1];
  const Value each = reshape(graph_, numbers, {rows_, columns, 1}, {0, 1, -1}, "numbers");
  return times(each, vectors, name);
}

Value TableEncoder::picked_vectors(Value ids, const std::vector<std::string>& tables,
                                   const std::vector<int64_t>& first) {
  const std::string& name = tables[0];
  if (tables.size() == 1) return picked_vectors(ids, parameter(name, {-1, -1}), first, name);
  const Tensor table = weights_.tensors.derived(name + "/all", type_, [&] {
    std::vector<Tensor> all;
    int64_t count = 0;
    for (const std::string& one : tables) {
      all.push_back(parameter(one, {-1, facts_.width}));
      count += all.back().dim(0);
    }
    Tensor joined = Tensor::empty({count, facts_.width}, type_);
    int64_t at = 0;
    for (const Tensor& one : all) {
      joined.slice(0, at, one.dim(0)).copy_from(one);
      at += one.dim(0);
    }
    return joined;
  });
  return picked_vectors(ids, table, first, name);
}

Value TableEncoder::picked_vectors(Value ids, const Tensor& table,
                                   const std::vector<int64_t>& first, const std::string& name) {
  const auto columns = static_cast<int64_t>(first.size());
  const Tensor offsets = Tensor::of<int64_t>({1, columns}, std::span<const int64_t>(first));
  const Value places = plus(ids, offsets, "categories/places");
  picked_ = embedding(graph_, places, table, name);
  return picked_;
}

Value TableEncoder::with_missing(Value tokens, Value missing, int64_t first,
                                 const Tensor& vectors) {
  if (!missing.valid()) return tokens;
  const int64_t count = graph_.shape(tokens)[1];
  const Value own = slice(graph_, missing, 1, first, count, "missing/own");
  const Value each = reshape(graph_, own, {rows_, count, 1}, {0, 1, -1}, "missing/each");
  const Value half = constant(Tensor::of<double>({1}, {0.5}).cast(type_), "missing/half");
  const Value is_missing = binary(graph_, each, half, BinaryFunction::kGreater, "missing");
  return where(graph_, is_missing, constant(vectors, "missing/vectors"), tokens, "missing/tokens");
}

Value TableEncoder::learned_token(const Tensor& vector, const std::string& name) {
  const int64_t width = vector.size();
  return constant(vector.reshape({1, 1, width}).expand({rows_, 1, width}).contiguous(), name);
}

Value TableEncoder::joined_tokens(const std::vector<Value>& parts) {
  std::vector<Value> valid;
  for (const Value part : parts) {
    if (part.valid()) valid.push_back(part);
  }
  if (valid.empty()) {
    throw UnsupportedModel(
        "the model has no tokens: it has no columns of categories, and its numbers pass no "
        "attention");
  }
  tokens_ = valid.size() == 1 ? valid[0] : concat(graph_, valid, 1, "tokens");
  return tokens_;
}

Value TableEncoder::split_heads(Value x, int64_t heads, const std::string& name) {
  const Shape shape = graph_.shape(x);
  if (heads < 1 || shape[2] % heads != 0) {
    throw FileError(
        fmt::format("'{}' has {} numbers for each token, which are not those of {} heads", name,
                    shape[2], heads));
  }
  const Value split =
      reshape(graph_, x, {shape[0], shape[1], heads, shape[2] / heads}, name + "/heads");
  return transpose(graph_, split, {0, 2, 1, 3}, name + "/heads");
}

// Linformer: each key is a sum over all tokens.
Value TableEncoder::mixed(Value x, const LinearRows& mixture) {
  if (mixture.weight.empty()) return x;
  const Value turned = transpose(graph_, x, {0, 2, 1}, mixture.weight + "/tokens");
  return transpose(graph_, linear(turned, mixture), {0, 2, 1}, mixture.weight + "/mixtures");
}

Value TableEncoder::attention(Value x, const AttentionParts& parts) {
  const Value query = split_heads(linear(x, parts.query), parts.heads, parts.site + "/query");
  const Value key =
      split_heads(mixed(linear(x, parts.key), parts.key_mixture), parts.heads, parts.site + "/key");
  const Value value = split_heads(mixed(linear(x, parts.value), parts.value_mixture), parts.heads,
                                  parts.site + "/value");
  const int64_t width = graph_.shape(query)[3];
  const Value keys = transpose(graph_, key, {0, 1, 3, 2}, parts.site + "/transposed");
  const Value scores = matmul(graph_, query, keys, parts.site + "/scores");
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const Value map = softmax(graph_, scores, {}, scale, parts.site);
  const Value context = matmul(graph_, map, value, parts.site + "/context");
  return merged_heads(context, parts);
}

Value TableEncoder::merged_heads(Value context, const AttentionParts& parts) {
  const Shape shape = graph_.shape(context);
  const Value merged = transpose(graph_, context, {0, 2, 1, 3}, parts.site + "/merge");
  const Value joined =
      reshape(graph_, merged, {shape[0], shape[2], shape[1] * shape[3]}, parts.site + "/merge");
  return parts.out.weight.empty() ? joined : linear(joined, parts.out);
}

Value TableEncoder::feed_forward(Value x, const FeedForwardParts& parts) {
  const Value first = linear(x, parts.first);
  const int64_t width = graph_.shape(first).back();
  const auto second = weights_.tensors.shape_of(parts.second.weight).value_or(Shape{0, width});
  const bool halves = second.size() == 2 && width == 2 * second[1];
  const bool gated = halves || !parts.gate.weight.empty();
  check_fits(parts.function, gated);
  const ActivationFunction function = parts.function.function;
  const std::string name = parts.first.weight + "/activation";
  if (!gated) return linear(activate(first, function, name), parts.second);
  if (!halves) {
    const Value gate = linear(x, parts.gate);
    return linear(multiply(graph_, activate(first, function, name), gate, name + "/gate"),
                  parts.second);
  }
  const Value a = slice(graph_, first, 2, 0, width / 2, name + "/first_half");
  const Value b = slice(graph_, first, 2, width / 2, width / 2, name + "/second_half");
  return linear(multiply(graph_, a, activate(b, function, name), name + "/gate"), parts.second);
}

Value TableEncoder::step(Value x, NormPlace place, const std::string& name,
                         const std::function<Value(Value)>& f) {
  const bool before = place != NormPlace::kAfter && !name.empty();
  const Value normed = before ? norm(x, name) : x;
  const Value kept = place == NormPlace::kBeforeBoth ? normed : x;
  const Value sum = add(graph_, kept, f(normed), name + "/residual");
  return place == NormPlace::kAfter ? norm(sum, name) : sum;
}

Value TableEncoder::batch_norm(Value x, const std::string& name) {
  const int64_t width = graph_.shape(x).back();
  const Checkpoint& tensors = weights_.tensors;
  const auto made = [&](const std::string& what, const std::function<double(const double*)>& of) {
    return tensors.derived(name + what, type_, [&] {
      std::vector<std::vector<double>> all;
      for (const char* part : {".running_mean", ".running_var", ".weight", ".bias"})
        all.push_back(tensors.tensor(name + part, {width}, DType::kFloat64).to_doubles());
      std::vector<double> results;
      for (int64_t i = 0; i < width; ++i) {
        const double numbers[] = {all[0][i], all[1][i], all[2][i], all[3][i]};
        results.push_back(of(numbers));
      }
      return Tensor::of<double>({width}, std::span<const double>(results)).cast(type_);
    });
  };
  const auto factor = [](const double* n) { return n[2] / std::sqrt(n[1] + kTableEpsilon); };
  const Tensor factors = made("/factors", factor);
  const Tensor summands =
      made("/summands", [&](const double* n) { return n[3] - n[0] * factor(n); });
  return plus(times(x, factors, name + "/scale"), summands, name + "/shift");
}

// The constants are torch's.
Value TableEncoder::selu(Value x, const std::string& name) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  const Tensor scale = Tensor::of<double>({1}, {kScale}).cast(type_);
  return times(elu(graph_, x, kAlpha, name), scale, name + "/scale");
}

BetweenLinears TableEncoder::head_function() {
  const std::string told = lower(weights_.spec.model.head_activation);
  if (told == "leaky_relu" || told == "leakyrelu") {
    constexpr double kSlope = 0.01;  // torch's own
    return [this](Value x, const std::string& name) { return leaky_relu(graph_, x, kSlope, name); };
  }
  if (told == "elu")
    return [this](Value x, const std::string& name) { return elu(graph_, x, 1, name); };
  if (told == "selu") return [this](Value x, const std::string& name) { return selu(x, name); };
  const std::string known = told.empty() ? "relu" : told;
  for (const NamedFunction& one : kFunctions) {
    if (one.gated || one.name != known) continue;
    return [this, function = one.function](Value x, const std::string& name) {
      return activate(x, function, name);
    };
  }
  throw UnsupportedModel(
      fmt::format("table.json names the head's activation '{}'; known are {}, leaky_relu, elu, "
                  "selu",
                  weights_.spec.model.head_activation, names_of_functions(false)));
}

Value TableEncoder::perceptron(Value x, const std::string& prefix, const BetweenLinears& function,
                               AfterLast after_last) {
  constexpr int64_t kMostModules = 100;
  const Checkpoint& tensors = weights_.tensors;
  const auto name = [&](int64_t module) { return fmt::format("{}{}", prefix, module); };
  bool open = false;  // a Linear that others follow
  for (int64_t module = 0; module < kMostModules; ++module) {
    const std::string weight = name(module) + ".weight";
    if (!tensors.has(weight)) continue;
    if (open) x = function(x, name(module) + "/activation");
    open = !tensors.has(name(module) + ".running_mean");
    const bool has_bias = tensors.has(name(module) + ".bias");
    if (open)
      x = linear(x, has_bias ? linear_named(name(module)) : linear_without_bias(name(module)));
    else
      x = batch_norm(x, name(module));
  }
  const bool activates = open && after_last == AfterLast::kFunction;
  return activates ? function(x, prefix + "activation") : x;
}

Value TableEncoder::flat(Value x) {
  const Shape shape = graph_.shape(x);
  return reshape(graph_, x, {shape[0], shape[1] * shape[2]}, "flat");
}

Value TableEncoder::beside(Value a, Value b) {
  if (!a.valid() || !b.valid()) return a.valid() ? a : b;
  return concat(graph_, a, b, 1, "beside");
}

Value TableEncoder::token(Value x, int64_t index) {
  read_token_ = index;
  const Shape shape = graph_.shape(x);
  const Value one = slice(graph_, x, 1, index, 1, "read_out");
  return reshape(graph_, one, {shape[0], shape[2]}, {0, 2}, "read_out");
}

double option(const TableSpec& spec, std::string_view name, double otherwise) {
  const auto found = spec.model.numbers.find(name);
  return found == spec.model.numbers.end() || found->second.empty() ? otherwise : found->second[0];
}

LinearRows third_of(const Checkpoint& tensors, const LinearRows& all, int64_t part) {
  return part_of(all, shape_of(tensors, all.weight, 2)[0] / 3, part);
}

Shape shape_of(const Checkpoint& tensors, const std::string& name, size_t axes) {
  const auto shape = tensors.shape_of(name);
  if (!shape || shape->size() != axes) {
    throw FileError(fmt::format("the tensor '{}' should have {} axes, but {}", name, axes,
                                shape ? "its shape is " + to_string(*shape) : "is not there"));
  }
  return *shape;
}

int64_t count_of(const Checkpoint& tensors, const std::string& prefix) {
  int64_t count = 0;
  while (tensors.has_prefix(fmt::format("{}{}.", prefix, count))) ++count;
  return count;
}

std::vector<int64_t> divisors(int64_t width, int64_t least) {
  std::vector<int64_t> found;
  for (int64_t one = least; one <= width; ++one) {
    if (width % one == 0) found.push_back(one);
  }
  return found;
}

std::vector<int64_t> first_rows(const std::vector<int64_t>& counts, int64_t first) {
  std::vector<int64_t> rows;
  for (const int64_t count : counts) {
    rows.push_back(first);
    first += count;
  }
  return rows;
}

std::vector<int64_t> told_counts(const TableWeights& weights, int64_t columns, int64_t table_rows) {
  std::vector<int64_t> counts(columns, 0);
  for (const ColumnSpec& column : weights.spec.columns) {
    if (column.input != "x_cat") continue;
    for (const int64_t at : column.at) {
      if (at >= 0 && at < columns) counts[at] = column.id_count();
    }
  }
  const int64_t told = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const auto open = std::find(counts.begin(), counts.end(), 0);
  if (open != counts.end()) {
    throw UnsupportedModel(fmt::format(
        "the file does not say which rows of its table belong to which column of categories: {} "
        "columns share {} rows, and table.json has no categories for place {} of 'x_cat'",
        columns, table_rows, open - counts.begin()));
  }
  if (told != table_rows) {
    throw UnsupportedModel(fmt::format(
        "the columns of table.json have {} categories in all, but the table of the weights has {} "
        "rows: give every id that the model was trained with, those of missing and unknown cells "
        "too",
        told, table_rows));
  }
  return counts;
}

std::vector<int64_t> counts_between(const std::vector<int64_t>& first, int64_t table_rows) {
  std::vector<int64_t> counts;
  for (size_t i = 0; i < first.size(); ++i) {
    const int64_t end = i + 1 < first.size() ? first[i + 1] : table_rows;
    if (first[i] < 0 || end <= first[i] || end > table_rows) {
      throw FileError(fmt::format("the columns' first rows are not those of a table of {} rows: {}",
                                  table_rows, to_string(first)));
    }
    counts.push_back(end - first[i]);
  }
  return counts;
}

}  // namespace whyformer
