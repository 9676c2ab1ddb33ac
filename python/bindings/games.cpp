#include "whyformer/games.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings.h"
#include "long_work.h"
#include "shared_arrays.h"
#include "whyformer/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

// A game whose worth a Python function tells: it gets coalitions [n × players] of true and false,
// and one background for each (or None for the mean over all), and gives [n × outputs].
class PythonGame final : public Game {
 public:
  PythonGame(nb::object function, int64_t players, int64_t outputs, std::vector<bool> varying,
             int64_t backgrounds, int64_t max_at_once)
      : function_(std::move(function)),
        players_(players),
        outputs_(outputs),
        varying_(std::move(varying)),
        backgrounds_(backgrounds),
        max_at_once_(max_at_once) {}

  int64_t players() const override { return players_; }
  int64_t outputs() const override { return outputs_; }
  std::vector<bool> varying() const override { return varying_; }
  int64_t max_at_once() const override { return max_at_once_; }
  int64_t backgrounds() const override { return backgrounds_; }

  std::vector<double> values(const std::vector<Coalition>& coalitions) override {
    const nb::gil_scoped_acquire lock;
    return ask(coalitions, nb::none());
  }
  std::vector<double> values(const std::vector<Coalition>& coalitions,
                             const std::vector<int64_t>& background) override {
    const nb::gil_scoped_acquire lock;
    return ask(coalitions, nb::cast(array_of(background, {background.size()})));
  }

 private:
  std::vector<double> ask(const std::vector<Coalition>& coalitions,
                          const nb::object& background) const {
    std::vector<uint8_t> visible;
    visible.reserve(coalitions.size() * static_cast<size_t>(players_));
    for (const Coalition& coalition : coalitions)
      visible.insert(visible.end(), coalition.begin(), coalition.end());
    const auto shown =
        array_of(std::move(visible), {coalitions.size(), static_cast<size_t>(players_)});
    const auto worth =
        nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(
            function_(shown, background));
    if (worth.shape(0) != coalitions.size() || worth.shape(1) != static_cast<size_t>(outputs_)) {
      throw InvalidInput(
          "the function must give a row for each input, always with as many numbers");
    }
    return {worth.data(), worth.data() + worth.size()};
  }

  nb::object function_;
  int64_t players_, outputs_;
  std::vector<bool> varying_;
  int64_t backgrounds_, max_at_once_;
};

using Merges = std::vector<std::pair<int64_t, int64_t>>;

std::optional<PlayerTree> tree_of(const std::optional<Merges>& merges) {
  if (!merges) return std::nullopt;
  PlayerTree tree;
  for (const auto& [left, right] : *merges) tree.merges.push_back({left, right});
  return tree;
}

Merges merges_of(const PlayerTree& tree) {
  Merges merges;
  for (const auto& [left, right] : tree.merges) merges.emplace_back(left, right);
  return merges;
}

nb::dict dict_of(GameValues found) {
  const size_t outputs = found.base.size();
  const size_t players = outputs == 0 ? 0 : found.values.size() / outputs;
  nb::dict result;
  result["base"] = array_of(std::move(found.base), {outputs});
  result["full"] = array_of(std::move(found.full), {outputs});
  result["values"] = array_of(std::move(found.values), {players, outputs});
  result["errors"] = found.errors.empty()
                         ? nb::none()
                         : nb::cast(array_of(std::move(found.errors), {players, outputs}));
  result["evaluations"] = found.evaluations;
  result["finished"] = found.finished;
  result["determined"] = found.determined;
  return result;
}

// Every explainer: a game, its options, a watch.
template <class Explain>
nb::dict estimate(Game& game, const nb::object& progress, bool adds_up, const Explain& explain) {
  GameValues found =
      run_long(progress, [&](const Watch& watch) -> GameValues { return explain(game, watch); });
  if (adds_up) check_additivity(found);
  return dict_of(std::move(found));
}

GameLink link_of(bool logit) { return logit ? GameLink::kLogit : GameLink::kIdentity; }

void bind_shapley(nb::module_& module) {
  module.def(
      "exact_shap",
      [](PythonGame& game, int64_t max_evals, const std::optional<Merges>& tree, bool logit,
         const nb::object& progress) {
        LinkedGame linked(game, link_of(logit));
        return estimate(linked, progress, true, [&](Game& g, const Watch& watch) {
          return exact_shap(g, {.max_evals = max_evals, .tree = tree_of(tree)}, watch);
        });
      },
      "game"_a, "max_evals"_a, "tree"_a.none(), "logit"_a, "progress"_a.none());
  module.def(
      "permutation_shap",
      [](PythonGame& game, int64_t max_evals, uint32_t seed, double target_error,
         const std::optional<Merges>& tree, bool logit, const nb::object& progress) {
        LinkedGame linked(game, link_of(logit));
        return estimate(linked, progress, true, [&](Game& g, const Watch& watch) {
          const PermutationOptions options{max_evals, seed, target_error, tree_of(tree)};
          return permutation_shap(g, options, watch);
        });
      },
      "game"_a, "max_evals"_a, "seed"_a, "target_error"_a, "tree"_a.none(), "logit"_a,
      "progress"_a.none());
  module.def(
      "partition_shap",
      [](PythonGame& game, const Merges& tree, const std::string& context, int64_t max_evals,
         int64_t batch_size, uint32_t seed, bool logit, const nb::object& progress) {
        PartitionOptions options{.max_evals = max_evals, .batch_size = batch_size, .seed = seed};
        if (context == "hidden") options.context = SiblingContext::kHidden;
        if (context == "visible") options.context = SiblingContext::kVisible;
        LinkedGame linked(game, link_of(logit));
        return estimate(linked, progress, true, [&](Game& g, const Watch& watch) {
          return partition_shap(g, *tree_of(tree), options, watch);
        });
      },
      "game"_a, "tree"_a, "context"_a, "max_evals"_a, "batch_size"_a, "seed"_a, "logit"_a,
      "progress"_a.none());
}

void bind_sampled_shapley(nb::module_& module) {
  module.def(
      "sampling_shap",
      [](PythonGame& game, int64_t samples, uint32_t seed, double target_error,
         const nb::object& progress) {
        return estimate(game, progress, true, [&](Game& g, const Watch& watch) {
          return sampling_shap(g, {samples, seed, target_error}, watch);
        });
      },
      "game"_a, "samples"_a, "seed"_a, "target_error"_a, "progress"_a.none());
  module.def(
      "kernel_shap",
      [](PythonGame& game, int64_t samples, uint32_t seed, const std::string& selection, bool logit,
         double target_error, const nb::object& progress) {
        const KernelOptions options{.samples = samples,
                                    .seed = seed,
                                    .selection = kernel_selection(selection),
                                    .link = link_of(logit),
                                    .target_error = target_error};
        return estimate(game, progress, true, [&](Game& g, const Watch& watch) {
          return kernel_shap(g, options, watch);
        });
      },
      "game"_a, "samples"_a, "seed"_a, "selection"_a, "logit"_a, "target_error"_a,
      "progress"_a.none());
}

void bind_relatives(nb::module_& module) {
  module.def(
      "shapley_taylor",
      [](PythonGame& game, int64_t max_evals, const nb::object& progress) {
        InteractionValues found = run_long(progress, [&](const Watch& watch) {
          return shapley_taylor(game, {.max_evals = max_evals}, watch);
        });
        const auto players = static_cast<size_t>(game.players());
        const size_t outputs = found.base.size();
        nb::dict result;
        result["base"] = array_of(std::move(found.base), {outputs});
        result["full"] = array_of(std::move(found.full), {outputs});
        result["values"] = array_of(std::move(found.values), {players, players, outputs});
        result["evaluations"] = found.evaluations;
        return result;
      },
      "game"_a, "max_evals"_a, "progress"_a.none());
}

void bind_lime(nb::module_& module) {
  module.def(
      "lime",
      [](PythonGame& game, bool pictures, int64_t samples, double kernel_width,
         const std::string& selection, int64_t features, double ridge, uint32_t seed,
         const nb::object& progress) {
        LimeOptions options{
            .neighbours = pictures ? LimeNeighbours::kPictureParts : LimeNeighbours::kWords,
            .samples = samples,
            .kernel_width = kernel_width,
            .players = features,
            .ridge = ridge,
            .seed = seed};
        if (selection == "forward") options.selection = LimeSelection::kForward;
        if (selection == "highest-weights") options.selection = LimeSelection::kHighestWeights;
        if (selection == "none") options.selection = LimeSelection::kNone;
        LimeFit fit =
            run_long(progress, [&](const Watch& watch) { return lime(game, options, watch); });
        const auto players = static_cast<size_t>(game.players());
        const size_t outputs = fit.intercepts.size();
        nb::dict result;
        result["base"] = array_of(std::move(fit.intercepts), {outputs});
        result["full"] = array_of(std::move(fit.full), {outputs});
        result["values"] = array_of(std::move(fit.coefficients), {players, outputs});
        result["errors"] = fit.errors.empty()
                               ? nb::none()
                               : nb::cast(array_of(std::move(fit.errors), {players, outputs}));
        result["r_squared"] = array_of(std::move(fit.r_squared), {outputs});
        result["evaluations"] = fit.evaluations;
        result["finished"] = fit.finished;
        return result;
      },
      "game"_a, "pictures"_a, "samples"_a, "kernel_width"_a, "selection"_a, "features"_a, "ridge"_a,
      "seed"_a, "progress"_a.none());
  module.def("kmeans_background",
             [](const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& rows,
                int64_t clusters) {
               Background found = kmeans_background({static_cast<int64_t>(rows.shape(0)),
                                                     static_cast<int64_t>(rows.shape(1)),
                                                     {rows.data(), rows.data() + rows.size()}},
                                                    clusters);
               const size_t shares = found.weights.size();
               const auto columns = static_cast<size_t>(found.rows.columns);
               return std::pair(array_of(std::move(found.rows.values), {shares, columns}),
                                array_of(std::move(found.weights), {shares}));
             });
}

}  // namespace

void bind_games(nb::module_& module) {
  nb::class_<PythonGame>(module, "Game")
      .def(nb::init<nb::object, int64_t, int64_t, std::vector<bool>, int64_t, int64_t>(),
           "function"_a, "players"_a, "outputs"_a, "varying"_a, "backgrounds"_a, "max_at_once"_a);
  module.def("text_tree",
             [](const std::vector<std::string>& pieces) { return merges_of(token_tree(pieces)); });
  module.def("grid_tree",
             [](int64_t rows, int64_t columns) { return merges_of(grid_tree(rows, columns)); });
  bind_shapley(module);
  bind_sampled_shapley(module);
  bind_relatives(module);
  bind_lime(module);
}

}  // namespace whyformer::python
