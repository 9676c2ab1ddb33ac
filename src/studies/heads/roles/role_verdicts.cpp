// Which roles hold: shares against those of relabelled tokens, corrected for the number of heads
// and roles by the largest deviation of each relabelling (Westfall & Young, 1993, single step).
#include <algorithm>
#include <cmath>

#include "studies/heads/roles/role_counts.h"

namespace whyformer {
namespace {

struct Chance {
  double mean = 0, deviation = 0;
};

// How many deviations a count lies above chance. Where no relabelling differs, any count above
// stands out beyond measure.
double excess(double count, const Chance& chance) {
  const double above = count - chance.mean;
  if (chance.deviation > 0) return above / chance.deviation;
  return above > 0 ? HUGE_VAL : 0;
}

Chance chance_of(const std::vector<int64_t>& relabelled, size_t cells, size_t cell, int draws) {
  Chance chance;
  for (int draw = 0; draw < draws; ++draw) {
    chance.mean += static_cast<double>(relabelled[draw * cells + cell]) / draws;
  }
  double squares = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const double off = static_cast<double>(relabelled[draw * cells + cell]) - chance.mean;
    squares += off * off;
  }
  if (draws > 1) chance.deviation = std::sqrt(squares / (draws - 1));
  return chance;
}

// The role that holds most above chance. A head that attends broadly has no other: what comes first
// among nearly equal weights says little.
int best_role(const std::vector<RoleShare>& shares, const std::vector<bool>& by_row) {
  int best = -1;
  double most = -1;
  for (size_t role = 0; role < shares.size(); ++role) {
    if (!shares[role].holds) continue;
    if (by_row[role]) return static_cast<int>(role);
    const double chance = shares[role].chance.value_or(0);
    const double above = chance < 1 ? (*shares[role].share() - chance) / (1 - chance) : 0;
    if (above > most) {
      most = above;
      best = static_cast<int>(role);
    }
  }
  return best;
}

class RoleVerdicts {
 public:
  RoleVerdicts(const HeadRolesRequest& request, const RoleCounts::Counts& counts)
      : request_(request), counts_(counts), draws_(request.permutations) {
    keep_roles();
    find_chances();
  }

  HeadRoles of(const std::vector<int64_t>& heads) const {
    HeadRoles result{.settings = request_};
    for (const size_t role : kept_) result.roles.push_back(entries_[role]->info);
    size_t first_cell = 0;
    for (const int64_t count : heads) {
      std::vector<HeadRole>& layer = result.heads.emplace_back();
      for (int64_t head = 0; head < count; ++head, first_cell += entries_.size()) {
        layer.push_back(role_of(first_cell));
      }
    }
    return result;
  }

 private:
  size_t cells() const { return counts_.hits.size(); }
  bool by_row(size_t cell) const { return entries_[cell % entries_.size()]->holds == nullptr; }
  bool is_enough(size_t cell) const {
    return counts_.tokens[cell] >= std::max<int64_t>(1, request_.min_tokens);
  }

  void keep_roles() {
    for (size_t role = 0; role < entries_.size(); ++role) {
      bool played = false;
      for (size_t cell = role; cell < cells(); cell += entries_.size()) {
        played = played || counts_.tokens[cell] > 0;
      }
      if (!played) continue;
      kept_.push_back(role);
      kept_by_row_.push_back(by_row(role));
    }
  }

  void find_chances() {
    chances_.resize(cells());
    largest_.assign(draws_, 0);
    for (size_t cell = 0; cell < cells(); ++cell) {
      chances_[cell] = chance_of(counts_.relabelled, cells(), cell, draws_);
      if (by_row(cell) || !is_enough(cell)) continue;
      for (int draw = 0; draw < draws_; ++draw) {
        const auto count = static_cast<double>(counts_.relabelled[draw * cells() + cell]);
        largest_[draw] = std::max(largest_[draw], excess(count, chances_[cell]));
      }
    }
  }

  RoleShare share_of(size_t cell) const {
    RoleShare share{counts_.hits[cell], counts_.tokens[cell]};
    const bool common = is_enough(cell) && *share.share() >= request_.share;
    if (by_row(cell)) {
      share.holds = common;
      return share;
    }
    if (share.tokens == 0 || draws_ == 0) return share;
    share.chance = chances_[cell].mean / static_cast<double>(share.tokens);
    share.deviation = chances_[cell].deviation / static_cast<double>(share.tokens);
    if (!is_enough(cell)) return share;
    const double own = excess(static_cast<double>(share.hits), chances_[cell]);
    const auto as_far =
        std::count_if(largest_.begin(), largest_.end(), [&](double one) { return one >= own; });
    share.p = (1.0 + static_cast<double>(as_far)) / (1.0 + draws_);
    share.holds = common && *share.p <= request_.level;
    return share;
  }

  HeadRole role_of(size_t first_cell) const {
    HeadRole one;
    for (const size_t role : kept_) one.shares.push_back(share_of(first_cell + role));
    one.role = best_role(one.shares, kept_by_row_);
    if (one.role < 0 || !kept_by_row_[one.role]) return one;
    for (size_t i = 0; i < kept_.size(); ++i) {
      one.shares[i].holds = one.shares[i].holds && kept_by_row_[i];
    }
    return one;
  }

  const HeadRolesRequest& request_;
  const RoleCounts::Counts& counts_;
  std::span<const RoleEntry* const> entries_ = role_entries();
  int draws_;
  std::vector<size_t> kept_;
  std::vector<bool> kept_by_row_;
  std::vector<Chance> chances_;
  std::vector<double> largest_;  // of each relabelling, over all heads and roles
};

}  // namespace

HeadRoles RoleCounts::roles() const { return RoleVerdicts(request_, counts_).of(heads_); }

}  // namespace whyformer
