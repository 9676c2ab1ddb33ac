// Linear probes as a picture: accuracy per layer with its interval, and the controls beside it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/canvas.h"
#include "report/views/learned_view.h"
#include "report/views/text.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24, kAxis = 44, kHeader = 92, kHeight = 260, kBelow = 56;

const TextStyle kFaint{.size = 11, .colour = kLightPalette.faint_ink};
const TextStyle kFaintMiddle{
    .size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle};
const TextStyle kFaintEnd{.size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kEnd};

class LearnedPicture {
 public:
  explicit LearnedPicture(const LearnedReport& found) : found_(found) {
    const auto layers = static_cast<double>(found.layers.size());
    step_ = std::clamp(720 / layers, 34.0, 90.0);
    plot_ = {kMargin + kAxis, kMargin + kHeader, std::max(460.0, layers * step_), kHeight};
    step_ = plot_.width / layers;
    width_ = plot_.x + plot_.width + kMargin;
    height_ = plot_.y + plot_.height + kBelow + kMargin;
  }

  std::string draw(PictureFormat format) {
    canvas_ = make_canvas(format, width_, height_);
    canvas_->rectangle({0, 0, width_, height_}, kLightPalette.paper);
    const double room = width_ - 2 * kMargin;
    canvas_->text(kMargin, kMargin + 8, fitted(title_of(found_), room, 18),
                  {.size = 18, .bold = true});
    canvas_->text(kMargin, kMargin + 32, fitted(settings_of(found_), room, 11), kFaint);
    axes();
    const double majority = height_of(found_.majority.share());
    canvas_->line(plot_.x, majority, plot_.x + plot_.width, majority, kLightPalette.ink);
    canvas_->text(plot_.x + plot_.width, majority - 8, "majority", kFaintEnd);
    for (size_t i = 0; i < found_.layers.size(); ++i) layer(i);
    key();
    return canvas_->finish();
  }

 private:
  double height_of(double share) const { return plot_.y + plot_.height * (1 - share); }
  double middle_of(size_t slot) const {
    return plot_.x + (static_cast<double>(slot) + 0.5) * step_;
  }

  void axes() {
    for (int percent = 0; percent <= 100; percent += 20) {
      const double y = height_of(percent / 100.0);
      canvas_->line(plot_.x, y, plot_.x + plot_.width, y,
                    percent == 0 ? kLightPalette.faint_ink : kLightPalette.grid);
      canvas_->text(plot_.x - 8, y, fmt::format("{} %", percent), kFaintEnd);
    }
  }

  void mark(double x, double share, Colour colour) {
    canvas_->circle(x, height_of(share), 4, colour);
  }

  void layer(size_t slot) {
    const LayerProbe& one = found_.layers[slot];
    const double x = middle_of(slot);
    const double top = height_of(one.accuracy.high), bottom = height_of(one.accuracy.low);
    for (const double shift : {-0.5, 0.5}) {  // lines are one pixel wide
      canvas_->line(x + shift, top, x + shift, bottom, kLightPalette.ink);
    }
    if (slot > 0) {
      const LayerProbe& before = found_.layers[slot - 1];
      for (const double shift : {-0.5, 0.5}) {
        canvas_->line(middle_of(slot - 1), height_of(before.accuracy.share()) + shift, x,
                      height_of(one.accuracy.share()) + shift, kLightPalette.positive);
      }
    }
    mark(x, one.shuffled, kLightPalette.faint_ink);
    if (one.random_weights) mark(x, one.random_weights->share(), kLightPalette.negative);
    if (one.control_task) mark(x, one.control_task->share(), kLightPalette.magnitude);
    mark(x, one.accuracy.share(), kLightPalette.positive);
    canvas_->text(x, plot_.y + plot_.height + 14,
                  one.layer < 0 ? "emb." : fmt::format("{}", one.layer), kFaintMiddle);
  }

  void key() {
    canvas_->text(plot_.x + plot_.width / 2, plot_.y + plot_.height + 36, "layer", kFaintMiddle);
    bool random = false, control = false;
    for (const LayerProbe& one : found_.layers) {
      random = random || one.random_weights;
      control = control || one.control_task;
    }
    double x = plot_.x;
    const auto entry = [&](const std::string& name, Colour colour) {
      canvas_->circle(x + 5, kMargin + 62, 4, colour);
      canvas_->text(x + 15, kMargin + 62, name, kFaint);
      x += 31 + text_width(name, 11);
    };
    entry("accuracy, 95 %", kLightPalette.positive);
    entry("shuffled labels", kLightPalette.faint_ink);
    if (random) entry("random weights", kLightPalette.negative);
    if (control) entry("control task", kLightPalette.magnitude);
  }

  const LearnedReport& found_;
  double step_ = 0, width_ = 0, height_ = 0;
  Box plot_{};
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

std::string learned_picture(const LearnedReport& found, PictureFormat format) {
  if (found.layers.empty()) throw InvalidInput("picture of probes: no layer was probed");
  return report::LearnedPicture(found).draw(format);
}

}  // namespace whyformer
