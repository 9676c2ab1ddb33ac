// Scores of one column over its values or categories, a point per input.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/beeswarm.h"
#include "report/views/dependence.h"
#include "report/views/summary_view.h"
#include "report/views/text.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24, kHeader = 66, kAxis = 56, kPlotWidth = 440, kPlotHeight = 260;
constexpr double kMissingWidth = 56;  // of the strip for missing cells, left of the values
constexpr double kRadius = 2.6, kWordRoom = 110, kMostUprightWidth = 70;
constexpr size_t kMostWords = 20, kMostShades = 6;

class DependencePicture {
 public:
  DependencePicture(const Summary& summary, const std::string& column, const SummaryStyle& style)
      : summary_(summary),
        style_(style),
        palette_(style.palette),
        plot_(dependence_of(summary, column)),
        top_(kMargin + (style.titled ? kHeader : 22)) {
    gather_rare_words();
    left_ = kMargin + kAxis + (plot_.missing > 0 ? kMissingWidth : 0);
    bottom_ = top_ + kPlotHeight;
    under_ = plot_.words.empty() ? 26 : turned() ? kWordRoom : 26;
  }

  std::string draw() {
    const double width = left_ + kPlotWidth + kMargin, height = bottom_ + under_ + 56 + kMargin;
    canvas_ = make_canvas(style_.format, width, height);
    canvas_->rectangle({0, 0, width, height}, palette_.paper);
    title(width - 2 * kMargin);
    score_axis();
    plot_.words.empty() ? value_axis() : word_axis();
    points();
    legend(bottom_ + under_ + 44);
    return canvas_->finish();
  }

 private:
  TextStyle faint(Anchor anchor = Anchor::kStart, bool upward = false) const {
    return {.size = 11, .colour = palette_.faint_ink, .anchor = anchor, .upward = upward};
  }

  double x(double value) const {
    return left_ + (value - plot_.x.low) / (plot_.x.high - plot_.x.low) * kPlotWidth;
  }
  double y(double score) const {
    return bottom_ - (score - plot_.y.low) / (plot_.y.high - plot_.y.low) * kPlotHeight;
  }
  double slot() const { return kPlotWidth / static_cast<double>(plot_.words.size()); }
  bool turned() const { return slot() < kMostUprightWidth; }

  // Beyond so many categories the rarest share the last place.
  void gather_rare_words() {
    if (plot_.words.size() <= kMostWords) return;
    std::vector<size_t> counts(plot_.words.size(), 0);
    for (const DependencePoint& point : plot_.points) {
      if (!std::isnan(point.x)) ++counts[static_cast<size_t>(point.x)];
    }
    std::vector<size_t> sorted = counts;
    std::sort(sorted.rbegin(), sorted.rend());
    const size_t rare = sorted[kMostWords - 1];  // with so many points or fewer
    std::vector<double> places(counts.size());
    std::vector<std::string> kept;
    for (size_t word = 0; word < counts.size(); ++word) {
      places[word] = counts[word] > rare ? static_cast<double>(kept.size()) : -1;
      if (counts[word] > rare) kept.push_back(plot_.words[word]);
    }
    for (DependencePoint& point : plot_.points) {
      if (std::isnan(point.x)) continue;
      const double place = places[static_cast<size_t>(point.x)];
      point.x = place < 0 ? static_cast<double>(kept.size()) : place;
    }
    kept.push_back(fmt::format("{} others", plot_.words.size() - kept.size()));
    plot_.words = std::move(kept);
    plot_.x = {-0.5, static_cast<double>(plot_.words.size()) - 0.5};
  }

  void title(double room) {
    const std::string name = printable(plot_.column);
    if (!style_.titled) {
      canvas_->text(kMargin, kMargin + 2, fitted(name, room, 14),
                    {.size = 14, .colour = palette_.ink, .bold = true});
      return;
    }
    const std::string target =
        summary_.target.empty() ? "the explained label" : printable(summary_.target);
    canvas_->text(
        kMargin, kMargin + 8,
        fitted(fmt::format("{}: {} for {}", printable(summary_.method), name, target), room, 17),
        {.size = 17, .colour = palette_.ink, .bold = true});
    canvas_->text(
        kMargin, kMargin + 34,
        fitted(quantity(summary_.instances, "input") + " · " + printable(summary_.model.name), room,
               11),
        faint());
  }

  void score_axis() {
    const double start = kMargin + kAxis;
    for (const double tick : ticks_of(plot_.y)) {
      canvas_->line(start, y(tick), left_ + kPlotWidth, y(tick), palette_.grid);
      canvas_->text(start - 6, y(tick), format_tick(tick), faint(Anchor::kEnd));
    }
    if (plot_.y.low < 0 && plot_.y.high > 0)
      canvas_->line(start, y(0), left_ + kPlotWidth, y(0), palette_.faint_ink);
    std::string name = "score";
    if (!summary_.space.empty()) name += " in " + printable(summary_.space);
    canvas_->text(kMargin + 2, (top_ + bottom_) / 2, fitted(name, kPlotHeight, 11),
                  faint(Anchor::kMiddle, true));
    canvas_->line(start, bottom_, left_ + kPlotWidth, bottom_, palette_.faint_ink);
    if (plot_.missing > 0)
      canvas_->text(start + kMissingWidth / 2, bottom_ + 13, "missing", faint(Anchor::kMiddle));
  }

  void value_axis() {
    for (const double tick : ticks_of(plot_.x)) {
      canvas_->line(x(tick), bottom_, x(tick), bottom_ + 4, palette_.faint_ink);
      canvas_->text(x(tick), bottom_ + 13, format_tick(tick), faint(Anchor::kMiddle));
    }
  }

  void word_axis() {
    for (size_t i = 0; i < plot_.words.size(); ++i) {
      const std::string word = printable(plot_.words[i]);
      const double at = x(static_cast<double>(i));
      if (turned()) {
        canvas_->text(at, bottom_ + 8, fitted(word, kWordRoom - 8, 11), faint(Anchor::kEnd, true));
      } else {
        canvas_->text(at, bottom_ + 13, fitted(word, slot() - 6, 11), faint(Anchor::kMiddle));
      }
    }
  }

  Colour colour_of(const DependencePoint& point) const {
    if (plot_.coloured_by.empty()) return palette_.magnitude;
    return point.level ? level_colour(palette_, *point.level) : palette_.faint_ink;
  }

  // Points of one category, and those without a value, stand side by side where they would cover
  // each other.
  void points() {
    std::vector<std::vector<size_t>> groups(plot_.words.size() + 1);
    for (size_t i = 0; i < plot_.points.size(); ++i) {
      const DependencePoint& point = plot_.points[i];
      if (std::isnan(point.x)) {
        groups.back().push_back(i);
      } else if (!plot_.words.empty()) {
        groups[static_cast<size_t>(point.x)].push_back(i);
      } else {
        canvas_->circle(x(point.x), y(point.score), kRadius, colour_of(point));
      }
    }
    for (size_t word = 0; word < plot_.words.size(); ++word)
      group(groups[word], x(static_cast<double>(word)), slot() / 2 - 4, false);
    group(groups.back(), kMargin + kAxis + kMissingWidth / 2, kMissingWidth / 2 - 4, true);
  }

  void group(const std::vector<size_t>& members, double middle, double room, bool missing) {
    std::vector<double> places;
    for (const size_t i : members) places.push_back(y(plot_.points[i].score));
    const Swarm swarm = swarm_of(places, kRadius, room);
    for (size_t i = 0; i < members.size(); ++i) {
      // Who finds no place stands behind the others in the middle.
      const double at = middle + (std::isnan(swarm.offsets[i]) ? 0 : swarm.offsets[i]);
      canvas_->circle(at, places[i], kRadius, colour_of(plot_.points[members[i]]));
      if (missing) canvas_->circle(at, places[i], 0.6 * kRadius, palette_.paper);
    }
  }

  void legend(double y) {
    double at = kMargin;
    const double end = left_ + kPlotWidth;
    const auto say = [&](const std::string& text) {
      const std::string shown = fitted(text, std::max(20.0, end - at), 11);
      canvas_->text(at, y, shown, faint());
      at += text_width(shown, 11) + 6;
    };
    if (plot_.coloured_by.empty()) return say("no other column seems to interact with it");
    if (plot_.shades.empty()) {
      say(printable(plot_.coloured_by) + ": " + plot_.low);
      // Each reaches to the end, under the next: no lines of paper show between them.
      for (int i = 0; i < 60; ++i)
        canvas_->rectangle({at + 1.5 * i, y - 5, 1.5 * (60 - i), 10},
                           level_colour(palette_, i / 59.0));
      at += 96;
      return say(plot_.high);
    }
    say(printable(plot_.coloured_by) + ":");
    constexpr double kRoomForMore = 110;  // a short word and how many there are besides
    const size_t count = plot_.shades.size();
    size_t shown = 0;
    for (; shown < std::min(count, kMostShades) && at < end - kRoomForMore; ++shown) {
      const double level =
          count > 1 ? static_cast<double>(shown) / static_cast<double>(count - 1) : 0.5;
      canvas_->circle(at + 6, y, 4, level_colour(palette_, level));
      at += 14;
      say(printable(plot_.shades[shown]));
      at += 6;
    }
    if (shown < count) say(fmt::format("and {} more", count - shown));
  }

  const Summary& summary_;
  SummaryStyle style_;
  const Palette& palette_;
  Dependence plot_;
  double top_ = 0, left_ = 0, bottom_ = 0, under_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace

std::string draw_dependence(const Summary& summary, const std::string& column,
                            const SummaryStyle& style) {
  return DependencePicture(summary, column, style).draw();
}

}  // namespace report

std::string dependence_picture(const Summary& summary, const std::string& column,
                               PictureFormat format) {
  return report::draw_dependence(summary, column, {.format = format});
}

}  // namespace whyformer
