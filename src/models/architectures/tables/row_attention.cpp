// Attention between the rows of a table (SAINT): a row is a token of all its columns' numbers.
#include <fmt/format.h>

#include <cmath>

#include "models/architectures/tables/table_encoder.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {

// Each explained row with its context behind it.
Value TableEncoder::with_context_rows(Value x) {
  if (attended_.kind != RowsAttended::Kind::kLive) return x;
  const Shape shape = graph_.shape(x);
  const int64_t others = attended_.tokens.dim(0), tokens = shape[1], width = shape[2];
  const Value own = reshape(graph_, x, {rows_, 1, tokens, width}, {0, -1, 1, 2}, "context/own");
  const Value context = constant(attended_.tokens.reshape({1, others, tokens, width})
                                     .expand({rows_, others, tokens, width})
                                     .contiguous(),
                                 "context/rows");
  Value all = concat(graph_, own, context, 1, "context/all");
  if (attended_.as_tokens) {
    row_tokens_ = reshape(graph_, all, {rows_, 1 + others, tokens * width}, "context/tokens");
    all = row_tokens_;
  }
  return reshape(graph_, all, {rows_ * (1 + others), tokens, width}, "context/all");
}

Value TableEncoder::rows_as_tokens(Value x) {
  const Shape shape = graph_.shape(x);
  const int64_t groups = attended_.kind == RowsAttended::Kind::kTogether ? 1 : rows_;
  return reshape(graph_, x, {groups, shape[0] / groups, shape[1] * shape[2]}, "rows_as_tokens");
}

Value TableEncoder::tokens_of_rows(Value x, int64_t tokens) {
  const Shape shape = graph_.shape(x);
  return reshape(graph_, x, {shape[0] * shape[1], tokens, shape[2] / tokens}, "tokens_of_rows");
}

Value TableEncoder::explained_rows(Value x) {
  if (attended_.kind != RowsAttended::Kind::kLive) return x;
  const Shape shape = graph_.shape(x);
  const int64_t together = shape[0] / rows_;
  const Value groups = reshape(graph_, x, {rows_, together, shape[1], shape[2]}, "context/groups");
  return reshape(graph_, slice(graph_, groups, 1, 0, 1, "context/explained"),
                 {rows_, shape[1], shape[2]}, "context/explained");
}

Value TableEncoder::row_attention(Value x, const AttentionParts& parts) {
  RowSite site;
  const std::string& name = parts.site;
  site.values = split_heads(linear(x, parts.value), parts.heads, name + "/value");
  // A softmax over a row's own key is 1.
  if (attended_.kind == RowsAttended::Kind::kAlone) return merged_heads(site.values, parts);
  const Value query = split_heads(linear(x, parts.query), parts.heads, name + "/query");
  site.keys = split_heads(linear(x, parts.key), parts.heads, name + "/key");
  Value context;
  if (attended_.kind == RowsAttended::Kind::kFrozen) {
    context = frozen_context(query, site, name);
  } else {
    const Value keys = transpose(graph_, site.keys, {0, 1, 3, 2}, name + "/transposed");
    const double scale = 1 / std::sqrt(static_cast<double>(graph_.shape(query)[3]));
    site.map =
        softmax(graph_, matmul(graph_, query, keys, name + "/scores"), attended_.mask, scale, name);
    context = matmul(graph_, site.map, site.values, name + "/context");
  }
  row_sites_.push_back(site);
  return merged_heads(context, parts);
}

// Explained rows share the context's keys and values: they are no part of the batch.
Value TableEncoder::frozen_context(Value query, RowSite& site, const std::string& name) {
  const Tensor& keys = attended_.keys.at(row_sites_.size());
  const Tensor& values = attended_.values.at(row_sites_.size());
  const int64_t others = keys.dim(2);
  const Value own_keys = transpose(graph_, site.keys, {0, 1, 3, 2}, name + "/transposed");
  const Value own_scores = matmul(graph_, query, own_keys, name + "/own_scores");
  const Value context_keys =
      constant(keys.permute({0, 1, 3, 2}).contiguous(), name + "/context_keys");
  const Value context_scores = matmul(graph_, query, context_keys, name + "/context_scores");
  const double scale = 1 / std::sqrt(static_cast<double>(graph_.shape(query)[3]));
  site.map = softmax(graph_, concat(graph_, own_scores, context_scores, 3, name + "/scores"),
                     attended_.mask, scale, name);
  const Value own = matmul(graph_, slice(graph_, site.map, 3, 0, 1, name + "/own_map"), site.values,
                           name + "/own");
  const Value rest = matmul(graph_, slice(graph_, site.map, 3, 1, others, name + "/context_map"),
                            constant(values, name + "/context_values"), name + "/rest");
  return add(graph_, own, rest, name + "/context");
}

}  // namespace whyformer
