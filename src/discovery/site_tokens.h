// Which tokens of one stream the queries and the keys of an attention site are, where they are not
// the same axis.
#pragma once

#include <optional>
#include <utility>

#include "discovery/axis_classes.h"

namespace whyformer {

// The operands of the product whose softmax is the map: what its queries and its keys are made of.
std::pair<Value, Value> score_operands(const Graph& graph, Value attention);

// Where the queries are neighbouring rows that were cut from the stream of the keys (a last layer
// that computes the class token alone): the first of them.
std::optional<int64_t> first_query_among_keys(const Graph& graph, const AxisClasses& classes,
                                              Value attention);

// Where the keys are the tokens of the queries with learned ones put beside them (bias_k,
// add_zero_attn): the first key that is such a token.
std::optional<int64_t> first_token_among_keys(const Graph& graph, const AxisClasses& classes,
                                              Value attention);

}  // namespace whyformer
