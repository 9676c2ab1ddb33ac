#include "studies/heads/roles/role_counts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/pulse.h"
#include "base/random.h"

namespace whyformer {
namespace {

// Weights that differ by less are one: no token comes first.
constexpr double kTie = 1e-5;

template <typename Visit>
void for_each_role(uint32_t roles, Visit visit) {
  for (; roles != 0; roles &= roles - 1) visit(static_cast<size_t>(std::countr_zero(roles)));
}

// What each query attends to most; several keys where they share the largest weight, none where it
// does not ask.
class StrongestKeys {
 public:
  StrongestKeys(std::span<const double> weights, int64_t queries, int64_t keys) {
    starts_.push_back(0);
    for (int64_t query = 0; query < queries; ++query) {
      const double* row = weights.data() + query * keys;
      const double most = *std::max_element(row, row + keys);
      for (int64_t key = 0; key < keys && most > 0; ++key) {
        if (row[key] >= most * (1 - kTie)) keys_.push_back(static_cast<int32_t>(key));
      }
      starts_.push_back(keys_.size());
    }
  }
  std::span<const int32_t> of(int64_t query) const {
    return {keys_.data() + starts_[query], starts_[query + 1] - starts_[query]};
  }

 private:
  std::vector<int32_t> keys_;
  std::vector<size_t> starts_;
};

// Tokens of one text in a random order.
std::vector<int32_t> relabelling(int64_t units, int64_t seed, int64_t instance) {
  const CounterRandom random(seed, "roles of heads", instance);
  std::vector<int32_t> label(units);
  std::iota(label.begin(), label.end(), 0);
  for (int64_t i = units - 1; i > 0; --i) {
    const auto other = static_cast<int64_t>(random.uniform(i) * static_cast<double>(i + 1));
    std::swap(label[i], label[std::min(other, i)]);
  }
  return label;
}

// Attention goes to the token that `label` puts in the place of each key.
void count_hits(const RolePairs& pairs, const StrongestKeys& strongest,
                const std::vector<int32_t>& label, int64_t* counts) {
  for (int64_t query = 0; query < pairs.units(); ++query) {
    const auto keys = strongest.of(query);
    if (keys.empty()) continue;
    uint32_t roles = pairs.possible(query);
    for (size_t i = 0; i < keys.size() && roles != 0; ++i) {
      roles &= pairs.holding(query, label[keys[i]]);
    }
    for_each_role(roles, [&](size_t role) { ++counts[role]; });
  }
}

void add_counts(std::vector<int64_t>& sums, const std::vector<int64_t>& more) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
}

}  // namespace

RolePairs::RolePairs(const UnitFacts& facts)
    : units_(facts.units()), pairs_(units_ * units_, 0), possible_(units_, 0) {
  const auto entries = role_entries();
  for (size_t role = 0; role < entries.size(); ++role) {
    const RoleEntry& entry = *entries[role];
    if (entry.holds == nullptr || !entry.fits(facts)) continue;
    for (int64_t query = 0; query < units_; ++query) {
      if (facts.special[query]) continue;
      for (int64_t key = 0; key < units_; ++key) {
        if (!entry.holds(facts, query, key)) continue;
        pairs_[query * units_ + key] |= uint32_t{1} << role;
        possible_[query] |= uint32_t{1} << role;
      }
    }
  }
}

HeadMaps maps_of(const Run& run) {
  HeadMaps maps;
  for (int layer = 0; layer < run.layers(); ++layer) {
    maps.push_back(run.attention(layer).cast(DType::kFloat64).contiguous());
  }
  return maps;
}

RoleCounts::RoleCounts(const HeadRolesRequest& request) : request_(request) {}

void RoleCounts::count_rows(const UnitFacts& facts, const RolePairs& pairs, const Labels& labels,
                            const Tensor& map, int64_t first_head, Counts& counts) const {
  const auto entries = role_entries();
  const int64_t units = pairs.units(), keys = map.dim(2);
  for (int64_t head = 0; head < map.dim(0); ++head) {
    pulse();
    const std::span<const double> weights(map.data<double>() + head * map.dim(1) * keys,
                                          static_cast<size_t>(units * keys));
    const size_t cell = static_cast<size_t>(first_head + head) * entries.size();
    const StrongestKeys strongest(weights, units, keys);
    count_hits(pairs, strongest, labels.own, counts.hits.data() + cell);
    for (size_t draw = 0; draw < labels.drawn.size(); ++draw) {
      count_hits(pairs, strongest, labels.drawn[draw],
                 counts.relabelled.data() + draw * cells() + cell);
    }
    for (int64_t query = 0; query < units; ++query) {
      if (strongest.of(query).empty()) continue;
      for_each_role(pairs.possible(query), [&](size_t role) { ++counts.tokens[cell + role]; });
      for (size_t role = 0; role < entries.size() && !facts.special[query]; ++role) {
        if (entries[role]->holds_in_row == nullptr) continue;
        const auto holds = entries[role]->holds_in_row(weights.subspan(query * keys, keys));
        counts.tokens[cell + role] += holds.has_value();
        counts.hits[cell + role] += holds.value_or(false);
      }
    }
  }
}

void RoleCounts::add(const UnitFacts& facts, const HeadMaps& maps) {
  if (heads_.empty()) {
    int64_t all = 0;
    for (const Tensor& map : maps) {
      heads_.push_back(map.dim(0));
      all += map.dim(0);
    }
    counts_.hits.assign(static_cast<size_t>(all) * role_entries().size(), 0);
    counts_.tokens = counts_.hits;
    counts_.relabelled.assign(cells() * static_cast<size_t>(request_.permutations), 0);
  }
  const RolePairs pairs(facts);
  Counts counts{std::vector<int64_t>(cells()), std::vector<int64_t>(cells()),
                std::vector<int64_t>(counts_.relabelled.size())};
  Labels labels{std::vector<int32_t>(pairs.units())};
  std::iota(labels.own.begin(), labels.own.end(), 0);
  for (int draw = 0; draw < request_.permutations; ++draw) {
    labels.drawn.push_back(
        relabelling(pairs.units(), request_.seed, inputs_ * request_.permutations + draw));
  }
  int64_t first_head = 0;
  for (const Tensor& map : maps) {
    count_rows(facts, pairs, labels, map, first_head, counts);
    first_head += map.dim(0);
  }
  add_counts(counts_.hits, counts.hits);
  add_counts(counts_.tokens, counts.tokens);
  add_counts(counts_.relabelled, counts.relabelled);
  ++inputs_;
}

}  // namespace whyformer
