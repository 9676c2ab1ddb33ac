// The model's answers with some units hidden. What metrics ask for the first time is noted, so that
// the questions of all metrics and all methods run together, each once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace whyformer {

struct HiddenAnswer {
  double value = 0;   // the target's probability, or what the model gives without one
  double output = 0;  // what the model gives for the target
  // Whether the model still says what it says to the whole input; nothing where it gives numbers
  // that are no labels.
  std::optional<bool> keeps_label = {};
};

class HiddenAnswers {
 public:
  using Hidden = std::vector<bool>;  // by player
  using Ask = std::function<std::vector<HiddenAnswer>(const std::vector<Hidden>& hidden)>;

  HiddenAnswers(int64_t players, Ask ask) : players_(players), ask_(std::move(ask)) {}

  int64_t players() const { return players_; }
  // A placeholder where the question is new; see complete().
  HiddenAnswer operator()(const Hidden& hidden);
  HiddenAnswer whole() { return (*this)(Hidden(players_, false)); }
  HiddenAnswer nothing() { return (*this)(Hidden(players_, true)); }
  // Calls `read` once to note its questions, runs them, and calls it again for its answer.
  template <class Read>
  auto complete(const Read& read) {
    read();
    run_noted();
    return read();
  }
  // Runs what was noted.
  void run_noted();

  int64_t asked() const { return static_cast<int64_t>(known_.size()); }

 private:
  int64_t players_;
  Ask ask_;
  std::map<Hidden, HiddenAnswer> known_;
  std::set<Hidden> noted_;
};

}  // namespace whyformer
