#include "readers/pair_subject.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>

namespace whyformer {
namespace {

constexpr std::array<std::string_view, 6> kTextWords{"mask", "delete", "retokenize",
                                                     "pad",  "unk",    "zero"};
constexpr std::array<std::string_view, 5> kPictureWords{"grey", "black", "white", "mean", "blur"};

// Hidden units of the text, and of the picture.
std::pair<std::vector<bool>, std::vector<bool>> parted(const std::vector<bool>& units,
                                                       int64_t tokens) {
  return {{units.begin(), units.begin() + tokens}, {units.begin() + tokens, units.end()}};
}

// A pair's variant is how long the text's is, that, and the picture's.
Variant joined(const Variant& text, const Variant& picture) {
  Variant variant{static_cast<int64_t>(text.size())};
  variant.insert(variant.end(), text.begin(), text.end());
  variant.insert(variant.end(), picture.begin(), picture.end());
  return variant;
}

void make_length_one(std::vector<double>& vector) {
  double squares = 0;
  for (const double x : vector) squares += x * x;
  for (double& x : vector) x /= squares > 0 ? std::sqrt(squares) : 1;
}

// [rows, width] with zeros behind, or cut off there.
Tensor of_width(const Tensor& rows, int64_t width) {
  Tensor result = Tensor::zeros({rows.dim(0), width}, rows.dtype());
  const int64_t common = std::min(width, rows.dim(1));
  result.slice(1, 0, common).copy_from(rows.slice(1, 0, common));
  return result;
}

Tensor stacked(const Tensor& text, const Tensor& picture) {
  const int64_t width = std::max(text.dim(1), picture.dim(1));
  Tensor result = Tensor::zeros({text.dim(0) + picture.dim(0), width}, text.dtype());
  result.slice(0, 0, text.dim(0)).copy_from(of_width(text, width));
  result.slice(0, text.dim(0), picture.dim(0)).copy_from(of_width(picture, width));
  return result;
}

}  // namespace

std::string word_for(PairSide side, const std::string& word) {
  const std::span<const std::string_view> others =
      side == PairSide::kText ? std::span<const std::string_view>(kPictureWords) : kTextWords;
  return std::find(others.begin(), others.end(), word) != others.end() ? "auto" : word;
}

PairSubject::PairSubject(std::unique_ptr<const TextSubject> text,
                         std::unique_ptr<const PictureSubject> picture, DType dtype,
                         int64_t memory_bytes)
    : text_(std::move(text)),
      picture_(std::move(picture)),
      dtype_(dtype),
      memory_bytes_(memory_bytes),
      special_(text_->special()) {
  special_.insert(special_.end(), picture_->special().begin(), picture_->special().end());
}

std::string PairSubject::why_no_maps() const {
  return "the text and the picture attend each to itself, so no attention map goes over both";
}

Run PairSubject::copies(int64_t count) const {
  const Run picture = picture_->copies(count);
  const Tensor& pixels = picture.feeds.at(static_cast<const PictureGraph&>(*picture.graph).pixels);
  const auto graph = picture_->model().pair_graph({.batch = count,
                                                   .tokens = tokens(),
                                                   .height = pixels.dim(2),
                                                   .width = pixels.dim(3),
                                                   .dtype = dtype_});
  const std::vector<std::vector<int64_t>> ids(count, text_->encoding().ids);
  return {graph, {{graph->ids, batch_tensor(ids, tokens())}, {graph->pixels, pixels}}};
}

Variant PairSubject::hiding(const std::vector<bool>& hidden, const std::string& how) const {
  const auto [text, picture] = parted(hidden, tokens());
  return joined(text_->hiding(text, word_for(PairSide::kText, how)),
                picture_->hiding(picture, word_for(PairSide::kPicture, how)));
}

std::vector<std::vector<double>> PairSubject::vectors(const Subject& side,
                                                      const std::vector<Variant>& variants,
                                                      AnswerMemo& memo, int64_t& count) const {
  // Those that run together share their first number and their length.
  std::map<std::pair<int64_t, size_t>, std::set<Variant>> unknown;
  for (const Variant& variant : variants) {
    if (memo.find(variant) == nullptr) unknown[{variant.front(), variant.size()}].insert(variant);
  }
  std::map<Variant, std::vector<double>> found;
  for (const auto& [key, group] : unknown) {
    const std::vector<Variant> batch(group.begin(), group.end());
    count += static_cast<int64_t>(batch.size());
    const Run together = side.run_of(batch);
    const Value output = together.graph->output;
    const Tensor answers =
        run(together.graph->graph, together.feeds, {.outputs = {output}})[output];
    for (size_t i = 0; i < batch.size(); ++i) {
      std::vector<double>& vector = found[batch[i]] =
          answers.select(0, static_cast<int64_t>(i)).to_doubles();
      make_length_one(vector);
    }
  }
  std::vector<std::vector<double>> results;
  for (const Variant& variant : variants) {
    const auto* known = memo.find(variant);
    results.push_back(known != nullptr ? *known : found.at(variant));
  }
  for (auto& [variant, vector] : found) memo.add(variant, std::move(vector), memory_bytes_ / 8);
  return results;
}

Run PairSubject::run_of(std::span<const Variant> inputs) const {
  std::vector<Variant> texts, pictures;
  for (const Variant& input : inputs) {
    const auto split = input.begin() + 1 + input.front();
    texts.emplace_back(input.begin() + 1, split);
    pictures.emplace_back(split, input.end());
  }
  const auto text_vectors = vectors(*text_, texts, text_vectors_, texts_run_);
  const auto picture_vectors = vectors(*picture_, pictures, picture_vectors_, pictures_run_);
  const double scale = picture_->model().similarity_scale();
  std::vector<double> logits;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double cosine = 0;
    for (size_t k = 0; k < text_vectors[i].size(); ++k)
      cosine += text_vectors[i][k] * picture_vectors[i][k];
    logits.push_back(scale * cosine);
  }
  const auto batch = static_cast<int64_t>(inputs.size());
  GraphBuilder builder;
  auto graph = std::make_shared<ModelGraph>();
  graph->output = builder.input("logits", {batch, 1}, DType::kFloat64);
  graph->graph = builder.finish();
  return {graph,
          {{graph->output, Tensor::of<double>({batch, 1}, std::span<const double>(logits))}}};
}

std::vector<int64_t> PairSubject::players() const {
  std::vector<int64_t> all = text_->players();
  for (const int64_t unit : picture_->players()) all.push_back(tokens() + unit);
  return all;
}

std::vector<bool> PairSubject::can_hide(const std::string& how) const {
  std::vector<bool> can = text_->can_hide(word_for(PairSide::kText, how));
  const std::vector<bool> patches = picture_->can_hide(word_for(PairSide::kPicture, how));
  can.insert(can.end(), patches.begin(), patches.end());
  return can;
}

PlayerTree PairSubject::player_tree() const {
  const auto texts = static_cast<int64_t>(text_->players().size());
  const auto patches = static_cast<int64_t>(picture_->players().size());
  const PlayerTree of_text = text_->player_tree(), of_picture = picture_->player_tree();
  const auto text_merges = static_cast<int64_t>(of_text.merges.size());
  const auto picture_merges = static_cast<int64_t>(of_picture.merges.size());
  PlayerTree tree;
  for (const auto& [left, right] : of_text.merges) {
    const auto moved = [&](int64_t node) { return node < texts ? node : node + patches; };
    tree.merges.push_back({moved(left), moved(right)});
  }
  for (const auto& [left, right] : of_picture.merges) {
    const auto moved = [&](int64_t node) {
      return texts + node + (node < patches ? 0 : text_merges);
    };
    tree.merges.push_back({moved(left), moved(right)});
  }
  const int64_t first_merge = texts + patches;
  // A side of one player is that player.
  const int64_t text_root = text_merges > 0 ? first_merge + text_merges - 1 : 0;
  const int64_t picture_root =
      picture_merges > 0 ? first_merge + text_merges + picture_merges - 1 : texts;
  tree.merges.push_back({text_root, picture_root});
  return tree;
}

std::vector<Value> PairSubject::values_at(const ModelGraph& graph, Place place) const {
  const auto& pair = static_cast<const PairGraph&>(graph);
  if (place == Place::kInput) return {pair.word_embeddings, pair.pixels};
  return {pair.text_embeddings,
          place == Place::kEmbeddingBlock ? pair.embeddings : pair.layers_input};
}

Tensor PairSubject::rows(Place place, const std::vector<Tensor>& values) const {
  return stacked(text_->rows(place, {values[0]}), picture_->rows(place, {values[1]}));
}

std::vector<Tensor> PairSubject::from_rows(Place place, const Tensor& rows) const {
  const std::vector<int64_t> widths = row_widths(place);
  const Tensor text = of_width(rows.slice(0, 0, tokens()), widths[0]);
  const Tensor picture = of_width(rows.slice(0, tokens(), picture_->units()), widths[1]);
  return {text_->from_rows(place, text)[0], picture_->from_rows(place, picture)[0]};
}

std::vector<int64_t> PairSubject::row_widths(Place place) const {
  const ModelGraph& graph = *copies(1).graph;
  const std::vector<Value> values = values_at(graph, place);
  const PatchGrid& grid = picture_->grid();
  const int64_t of_pixels = picture_->model().channels() * grid.patch_height * grid.patch_width;
  return {graph.graph.shape(values[0]).back(),
          place == Place::kInput ? of_pixels : graph.graph.shape(values[1]).back()};
}

std::optional<Tensor> PairSubject::pixel_channels(const Tensor& rows) const {
  const Tensor picture = rows.slice(0, tokens(), picture_->units());
  return picture_->pixel_channels(of_width(picture, row_widths(Place::kInput)[1]));
}

Tensor PairSubject::baseline(Place place, const std::string& name) const {
  return stacked(text_->baseline(place, word_for(PairSide::kText, name)),
                 picture_->baseline(place, word_for(PairSide::kPicture, name)));
}

std::string PairSubject::usual_baseline() const { return baseline_taken("auto"); }

std::string PairSubject::baseline_taken(const std::string& name) const {
  return text_->baseline_taken(word_for(PairSide::kText, name)) + " and " +
         picture_->baseline_taken(word_for(PairSide::kPicture, name));
}

}  // namespace whyformer
