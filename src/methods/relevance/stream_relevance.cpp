#include "methods/relevance/stream_relevance.h"

#include <algorithm>

#include "discovery/site_tokens.h"

namespace whyformer {
namespace {

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      const double factor = a.at(i, k);
      for (int64_t j = 0; j < b.columns; ++j) c.at(i, j) += factor * b.at(k, j);
    }
  }
  return c;
}

void add_to(Matrix& a, const Matrix& b) {
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
}

Matrix transposed(const Matrix& a) {
  Matrix result(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) result.at(j, i) = a.at(i, j);
  }
  return result;
}

// Equations 8 and 9: rows of R - I divided by their sum, plus I. A row of zeros stays that of I.
Matrix normalised(const Matrix& without_identity) {
  Matrix result = without_identity;
  for (int64_t i = 0; i < result.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < result.columns; ++j) sum += result.at(i, j);
    for (int64_t j = 0; j < result.columns && sum != 0; ++j) result.at(i, j) /= sum;
    result.at(i, i) += 1;
  }
  return result;
}

// One row of matrices: what a state of a stream says about every stream.
using StreamRows = std::vector<Matrix>;

// Which sites each value depends on, as one bit per site.
class SitesBehind {
 public:
  SitesBehind(const Graph& graph, const std::vector<AttentionSite>& sites)
      : words_((sites.size() + 63) / 64), bits_(graph.value_count() * words_, 0) {
    std::vector<int> site_of_node(graph.nodes().size(), -1);
    for (size_t i = 0; i < sites.size(); ++i) {
      site_of_node[graph.producer(sites[i].attention)] = static_cast<int>(i);
    }
    for (size_t index = 0; index < graph.nodes().size(); ++index) {
      const Node& node = graph.nodes()[index];
      for (const Value output : node.outputs) {
        for (const Value input : node.inputs) {
          for (size_t word = 0; word < words_; ++word) {
            bits_[output.id * words_ + word] |= bits_[input.id * words_ + word];
          }
        }
        const int site = site_of_node[index];
        if (site >= 0) bits_[output.id * words_ + site / 64] |= uint64_t{1} << (site % 64);
      }
    }
  }

  bool has(Value value, int site) const {
    return (bits_[value.id * words_ + site / 64] >> (site % 64) & 1) != 0;
  }

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

// The rows that each value of a stream carries, from site to site.
class StreamStates {
 public:
  StreamStates(const Graph& graph, const Discovery& found, std::vector<StreamRows> initial)
      : graph_(graph), found_(found), behind_(graph, found.sites), initial_(std::move(initial)) {}

  // What the site's queries and keys carry.
  const StreamRows& of_queries(const AttentionSite& site) const {
    return of(site.query_stream, score_operands(graph_, site.attention).first);
  }
  const StreamRows& of_keys(const AttentionSite& site) const {
    return of(site.key_stream, score_operands(graph_, site.attention).second);
  }
  // The rows behind the next site, of its queries' stream.
  void push(StreamRows rows) { states_.push_back(std::move(rows)); }

  // What the value carries of its stream: the state behind the last site of the stream it depends
  // on.
  const StreamRows& of(int stream, Value value) const {
    for (size_t index = states_.size(); index-- > 0;) {
      const bool own = found_.sites[index].query_stream == stream;
      if (own && behind_.has(value, static_cast<int>(index))) return states_[index];
    }
    return initial_[stream];
  }

 private:
  const Graph& graph_;
  const Discovery& found_;
  SitesBehind behind_;
  std::vector<StreamRows> initial_;  // by stream
  std::vector<StreamRows> states_;   // by site, of its queries' stream
};

enum class Start { kZeros, kIdentity };

std::vector<StreamRows> initial_states(const Discovery& found, Start own) {
  std::vector<StreamRows> initial;
  for (size_t s = 0; s < found.streams.size(); ++s) {
    StreamRows rows;
    for (const Stream& other : found.streams)
      rows.emplace_back(found.streams[s].tokens, other.tokens);
    if (own == Start::kIdentity) add_identity(rows[s]);
    initial.push_back(std::move(rows));
  }
  return initial;
}

bool is_zero(const Matrix& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(), [](double x) { return x == 0; });
}

}  // namespace

std::vector<Matrix> stream_relevance(const Graph& graph, const Discovery& found,
                                     const std::vector<Matrix>& weighted, int stream, Value read) {
  StreamStates states(graph, found, initial_states(found, Start::kZeros));
  for (size_t index = 0; index < found.sites.size(); ++index) {
    const AttentionSite& site = found.sites[index];
    const int s = site.query_stream, q = site.key_stream;
    const StreamRows& old = states.of_queries(site);
    const StreamRows& from = states.of_keys(site);
    StreamRows rows = old;
    for (size_t p = 0; p < rows.size(); ++p)
      add_to(rows[p], product(weighted[index], from[p]));  // 6, 7, 11
    if (s == q) {
      add_to(rows[s], weighted[index]);  // Ā·I
    } else {
      // Equation 10 in place of what was added above for the keys' own stream.
      rows[q] = old[q];
      add_to(rows[q], product(transposed(normalised(old[s])),
                              product(weighted[index], normalised(from[q]))));
    }
    states.push(std::move(rows));
  }
  return states.of(stream, read);
}

std::vector<Matrix> stream_rollout(const Graph& graph, const Discovery& found,
                                   const std::vector<Matrix>& maps, int stream, Value read) {
  StreamStates states(graph, found, initial_states(found, Start::kIdentity));
  for (size_t index = 0; index < found.sites.size(); ++index) {
    const AttentionSite& site = found.sites[index];
    const int s = site.query_stream;
    const StreamRows& old = states.of_queries(site);
    StreamRows rows = old;
    if (site.is_self_attention()) {
      rows[s] = product(maps[index], old[s]);
    } else {
      const Matrix through = product(transposed(old[s]), maps[index]);
      const StreamRows& from = states.of_keys(site);
      for (int p = 0; p < static_cast<int>(rows.size()); ++p) {
        if (p != s && !is_zero(from[p])) rows[p] = product(through, from[p]);
      }
    }
    states.push(std::move(rows));
  }
  return states.of(stream, read);
}

}  // namespace whyformer
