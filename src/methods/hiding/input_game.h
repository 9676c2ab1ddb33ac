// The explained input as a game: its players are tokens or patches, and a coalition is worth what
// the model answers when all others are hidden.
#pragma once

#include <string>

#include "methods/method.h"
#include "whyformer/games.h"

namespace whyformer {

struct HidingOptions {
  std::string how = "auto";  // see Part::hiding
  OutputSpace space = OutputSpace::kLogit;
  GameLink link = GameLink::kIdentity;  // of the mean over the backgrounds
};

class InputGame final : public Game {
 public:
  InputGame(Run& run, HidingOptions options);

  int64_t players() const override { return static_cast<int64_t>(units_.size()); }
  std::vector<bool> varying() const override { return varying_; }
  int64_t max_at_once() const override;
  std::vector<double> values(const std::vector<Coalition>& coalitions) override;
  int64_t backgrounds() const override { return static_cast<int64_t>(weights_.size()); }
  std::vector<double> values(const std::vector<Coalition>& coalitions,
                             const std::vector<int64_t>& background) override;

  // Neighbours first.
  PlayerTree tree() const { return run_.input().player_tree(); }
  // What the game's numbers [players] say of the input's units.
  std::vector<double> by_unit(const std::vector<double>& by_player) const;
  // Of standard errors [players]: not a number for special tokens, which are never hidden.
  std::vector<double> errors_by_unit(const std::vector<double>& by_player) const;
  // A method's result, with what must be told about it.
  Scores scores(const GameValues& found, const std::string& space) const;
  // The same for methods that draw random numbers.
  Scores sampled_scores(const GameValues& found, const std::string& space) const;

 private:
  Variant input_of(const Coalition& visible, int64_t background) const;

  Run& run_;
  HidingOptions options_;
  std::vector<int64_t> units_;  // of each player
  std::vector<bool> varying_;
  std::vector<double> weights_;  // of the backgrounds
};

// The options that methods by hiding share.
OptionInfo hiding_option();
HidingOptions hiding_options(const OptionReader& options);
// Those of methods that see the mean over a background behind a link, too.
OptionInfo link_option();
HidingOptions linked_hiding_options(const OptionReader& options);
// Those that bound a sampling method's work.
OptionInfo evaluations_option(std::string summary, int64_t fallback, double min);
OptionInfo target_error_option();
// The call's seed for a NumPy stream. Throws InvalidInput where it does not fit.
uint32_t numpy_seed(const Run& run);
// Of a method that the caller stopped before all units had a score.
std::string stopped_note(size_t done, size_t all, const std::string& what);
// Asks the caller's Progress whether to go on.
Watch watch_of(const Run& run);

}  // namespace whyformer
