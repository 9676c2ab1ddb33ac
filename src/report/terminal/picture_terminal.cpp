// An explained picture for a terminal: the best classes, the picture with the heat of every method,
// and the strongest patches.
#include "report/terminal/picture_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/terminal_image.h"
#include "report/terminal/terminal_style.h"
#include "report/terminal/terminal_table.h"
#include "report/terminal/terminal_text.h"
#include "report/views/estimate_view.h"
#include "report/views/model_title.h"
#include "report/views/text.h"
#include "report/views/trust_view.h"

namespace whyformer::report {
namespace {

constexpr int kNarrowestTerminal = 44;
constexpr size_t kMostClasses = 5;
constexpr int kSmallestImage = 20;  // columns
constexpr int kLargestImage = 32;
constexpr int kTallestImage = 56;  // pixels, two per line
constexpr double kHeatOpacity = 0.85;

class PictureReport {
 public:
  PictureReport(const PanelLayout& layout, const TerminalOptions& options)
      : whole_(layout.whole),
        explanations_(layout.grids),
        texts_(layout.tokens),
        first_(whole_.front()),
        picture_(layout.picture()),
        options_(options),
        names_special_(options.special == SpecialTokens::kShow),
        style_{options.colour} {
    options_.width = std::max(options_.width, kNarrowestTerminal);
    options_.special = SpecialTokens::kExclude;  // they are nowhere on the picture
  }

  std::string write() {
    prediction();
    if (options_.colour && explanations_.size() > 1) {
      lines({""});
      lines(
          side_by_side({half_blocks("picture", resized(picture_, image_size(1)))}, options_.width));
    }
    for (size_t i = 0; i < explanations_.size(); ++i) {
      explained_class(explanations_[i]);
      if (!texts_.empty()) coloured_texts(texts_[i]);
      shown_on_picture(explanations_[i], whole_[i]);
    }
    lines({""});
    legend();
    if (!names_special_) {
      sentences(hidden_tokens_sentence(whole_.front(), options_.special));
    } else if (!texts_.empty()) {
      const std::string hidden = hidden_tokens_sentence(texts_.front(), options_.special);
      if (!hidden.empty()) sentences("Text: " + hidden);
    }
    for (const std::string& note : first_.notes) sentences(note);
    for (const std::string& line : trust_setting_lines(first_)) sentences(line);
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  void lines(const std::vector<std::string>& list) {
    for (const std::string& line : list) out_ += line + "\n";
  }

  void sentences(const std::string& text) {
    if (text.empty()) return;
    for (const std::string& line : wrapped_sentence(text, options_.width)) {
      lines({style_.faint(line)});
    }
  }

  void prediction() {
    const std::vector<LabelValue> answers = explained_labels(whole_, kMostClasses);
    if (answers.empty()) {
      const std::string said = "Explained " + format_label(target_label(first_));
      lines({style_.bold(shortened(printable(said), options_.width))});
    }
    for (const LabelValue& answer : answers) answer_line(answer, answers);
    const std::string counts =
        fmt::format(" · {} × {} patches", picture_.rows, picture_.columns) +
        (answers.size() > 1 ? fmt::format(" · {} labels", first_.output.values.size()) : "");
    const std::string name =
        printable(fmt::format("{} · {}", first_.text, model_title(first_.model)));
    lines({style_.faint(shortened(name, options_.width - columns(counts)) + counts)});
  }

  void answer_line(const LabelValue& answer, const std::vector<LabelValue>& all) {
    const int bar_width = options_.width / 4;
    int label_width = 0;
    double largest = 0;
    for (const LabelValue& other : all) {
      label_width = std::max(label_width, columns(printable(other.label)));
      largest = std::max(largest, std::abs(other.value));
    }
    label_width = std::min(label_width, options_.width - bar_width - 16);
    const std::string label =
        left_aligned(shortened(printable(answer.label), label_width), label_width);
    const double share =
        answer.probability ? strength(*answer.probability, 1) : strength(answer.value, largest);
    const std::string number = answer.probability
                                   ? format_percent(*answer.probability)
                                   : format_score(answer.value, largest, ScoreKind::kMagnitude);
    lines({fmt::format(
        "{} {} {} {}", answer.is_target ? "▸" : " ", answer.is_target ? style_.bold(label) : label,
        style_.bar(share, bar_width, ScoreKind::kSigned), right_aligned(number, 10))});
  }

  // How large an image is where `count` of them should fit next to each other.
  MapSize image_size(size_t count) const {
    const auto room = static_cast<double>(options_.width) / static_cast<double>(count) - 2;
    double width = std::clamp(std::floor(room), static_cast<double>(kSmallestImage),
                              static_cast<double>(kLargestImage));
    const double ratio = static_cast<double>(picture_.height) / static_cast<double>(picture_.width);
    if (width * ratio > kTallestImage) width = std::max(1.0, std::floor(kTallestImage / ratio));
    const auto pairs = std::max<int64_t>(1, std::lround(width * ratio / 2));
    return {2 * std::min<int64_t>(pairs, kTallestImage / 2), static_cast<int64_t>(width)};
  }

  void explained_class(const Explanation& explanation) {
    const std::string title = printable(format_label(target_label(explanation)));
    lines({"", style_.bold(shortened(title, options_.width))});
  }

  void coloured_texts(const Explanation& text) {
    for (const Attribution& attribution : text.attributions) {
      lines({style_.faint(printable(attribution.method))});
      lines(heat_lines(text, attribution, options_));
    }
    lines(side_by_side_lines(text, options_));
    lines({""});
  }

  // What is said about scores concerns all of them, also those of a text beside the picture.
  void shown_on_picture(const Explanation& explanation, const Explanation& whole) {
    lines(options_.colour ? coloured(explanation) : plain(explanation));
    if (explanation.attributions.empty()) sentences("No method was run.");
    for (const Attribution& attribution : whole.attributions) remarks(attribution);
    lines(side_by_side_lines(explanation, options_));
    if (names_special_) special_tokens(explanation);
  }

  // Tokens that are on no patch, with their scores.
  void special_tokens(const Explanation& explanation) {
    for (size_t i = 0; i < explanation.units.size(); ++i) {
      if (!explanation.units[i].special) continue;
      std::vector<std::string> scores;
      for (const Attribution& attribution : explanation.attributions) {
        const double score = attribution.scores[i];
        scores.push_back(fmt::format("{} {}", attribution.method,
                                     format_score(score, std::abs(score), kind_of(attribution))));
      }
      if (scores.empty()) continue;
      sentences(printable(fmt::format("{} covers no patch and is left out of the scale: {}",
                                      explanation.units[i].text, fmt::join(scores, ", "))));
    }
  }

  std::vector<std::string> coloured(const Explanation& explanation) const {
    const bool with_picture = explanations_.size() == 1;
    const size_t count = explanation.attributions.size() + (with_picture ? 1 : 0);
    const MapSize size = image_size(std::max<size_t>(1, count));
    const Raster small = resized(picture_, size);
    std::vector<TextBlock> blocks;
    if (with_picture) blocks.push_back(half_blocks("picture", small));
    for (const Attribution& attribution : explanation.attributions) {
      const Heat heat = heat_of(picture_, attribution, size, Grain::kSmooth);
      blocks.push_back(
          half_blocks(printable(attribution.method), painted(small, heat, kHeatOpacity)));
    }
    return side_by_side(blocks, options_.width);
  }

  // A mark per patch; where those are wider than the terminal, a mark for several.
  std::vector<std::string> plain(const Explanation& explanation) const {
    const int64_t factor = (2 * picture_.columns + options_.width - 3) / (options_.width - 2);
    const MapSize size{(picture_.rows + factor - 1) / factor,
                       (picture_.columns + factor - 1) / factor};
    std::vector<TextBlock> blocks;
    for (const Attribution& attribution : explanation.attributions) {
      const Heat heat =
          heat_of(patch_scores(picture_, attribution.scores), patches_of(picture_),
                  kind_of(attribution), size, factor == 1 ? Grain::kBlocks : Grain::kSmooth);
      blocks.push_back(shades(printable(attribution.method), heat));
    }
    return side_by_side(blocks, options_.width);
  }

  void remarks(const Attribution& attribution) {
    const std::string cost = cost_line(attribution);
    if (!cost.empty()) sentences(printable(attribution.method + ": " + cost));
    const std::string estimate = estimate_line(attribution);
    if (!estimate.empty()) sentences(printable(attribution.method + ": " + estimate));
    const auto broken = [](double score) { return !std::isfinite(score); };
    if (std::any_of(attribution.scores.begin(), attribution.scores.end(), broken)) {
      sentences(printable(attribution.method) +
                ": some scores are missing or not a number; they count as 0.");
    }
    for (const std::string& line : trust_lines(attribution)) {
      sentences(printable(attribution.method) + ": " + line);
    }
    for (const std::string& note : attribution.notes) {
      sentences(printable(attribution.method) + ": " + printable(note));
    }
  }

  void legend() {
    bool has_sign = false;
    bool has_magnitude = false;
    for (const Explanation& explanation : explanations_) {
      for (const Attribution& attribution : explanation.attributions) {
        (attribution.is_signed ? has_sign : has_magnitude) = true;
      }
    }
    if (options_.colour) {
      if (has_sign) sentences("Blue is evidence for the class, orange against it.");
      if (has_magnitude) sentences("Yellow is strongest.");
    } else {
      if (has_sign) sentences("+9 is the strongest evidence for the class, -9 against it.");
      if (has_magnitude) sentences("From weak to strong: . : - = + * # % @");
    }
    if (!has_sign && !has_magnitude) return;
    sentences(texts_.empty() ? "Each map has its own scale."
                             : "Each map and each text has its own scale.");
  }

  std::span<const Explanation> whole_;
  std::span<const Explanation> explanations_;  // their grids
  std::span<const Explanation> texts_;         // their rows of tokens; none where there are none
  const Explanation& first_;
  const PictureView& picture_;
  TerminalOptions options_;
  bool names_special_;
  TerminalStyle style_;
  std::string out_;
};

}  // namespace

std::string picture_terminal(const PanelLayout& layout, const TerminalOptions& options) {
  return PictureReport(layout, options).write();
}

}  // namespace whyformer::report
