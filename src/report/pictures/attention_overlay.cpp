// What the class token of a vision transformer attends to, over the picture: a panel per layer or
// per head.
#include "report/pictures/attention_overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/picture_sheet.h"
#include "report/views/attention_pack.h"
#include "report/views/text.h"
#include "whyformer/error.h"

namespace whyformer::report {
namespace {

constexpr double kTop = 74;
constexpr double kPanelTitle = 22;
constexpr double kBelow = 28;
constexpr double kOpacity = 0.85;
constexpr double kSmallSide = 160;  // of panels where there are many

struct AttentionHeat {
  std::string title;
  std::vector<double> patches;
};

AttentionHeat heat_over(const PanelLayout& layout, std::string title,
                        std::span<const float> weights) {
  return {std::move(title),
          patch_scores(layout.picture(), read_out_row(layout.grids.front(), weights))};
}

std::vector<AttentionHeat> heats_over(const PanelLayout& layout, const AttentionPicture& which) {
  const Explanation& explanation = layout.grids.front();
  const std::vector<PictureLayer> layers = layers_over_units(explanation);
  if (layers.empty()) {
    throw InvalidInput(
        explanation.attention.empty()
            ? "attention picture: the explanation holds no attention maps; the model has none over "
              "what gets scores, or they were not kept"
            : "attention picture: the maps of this model are of windows, not of the whole picture; "
              "a trace of the model has them");
  }
  std::vector<AttentionHeat> panels;
  for (const PictureLayer& layer : layers) {
    if (which.layer < 0) {
      panels.push_back(
          heat_over(layout, fmt::format("layer {}", layer.layer), mean_over_heads(*layer.map)));
    } else if (layer.layer == which.layer) {
      for (const int64_t head : heads_shown(*layer.map, which)) {
        panels.push_back(heat_over(layout, fmt::format("head {}", head), layer.map->head(head)));
      }
    }
  }
  if (panels.empty() || which.layer < -1) {
    throw InvalidInput(fmt::format(
        "attention picture: there is no layer {} over the whole picture; the first is {}, the last "
        "{}",
        which.layer, layers.front().layer, layers.back().layer));
  }
  return panels;
}

std::string reader_name(const Explanation& explanation) {
  const int64_t unit = read_out_unit(explanation);
  return unit < 0 ? "all patches attend to on average"
                  : printable(explanation.units[static_cast<size_t>(unit)].text) + " attends to";
}

}  // namespace

std::string attention_overlay(const PanelLayout& layout, PictureFormat format,
                              const AttentionPicture& which) {
  const std::vector<AttentionHeat> panels = heats_over(layout, which);
  const Explanation& explanation = layout.grids.front();
  const PictureView& picture = layout.picture();
  const Raster drawn = resized(picture, drawn_size(picture));
  const auto count = static_cast<double>(panels.size());
  const double across = std::ceil(std::sqrt(count));
  const Box panel = panel_size(drawn, panels.size() > 4 ? kSmallSide : kPanelSide);
  const double pitch = kPanelTitle + panel.height + kBelow;
  const double width =
      std::max(560.0, 2 * kSheetMargin + across * (panel.width + kPanelGap) - kPanelGap);
  const double height = kTop + std::ceil(count / across) * pitch + 40;
  const std::unique_ptr<Canvas> canvas = make_sheet(format, width, height);
  const std::string title =
      fmt::format("What {}: {}", reader_name(explanation),
                  which.layer < 0  ? "layers, mean over heads"
                  : which.head < 0 ? fmt::format("heads of layer {}", which.layer)
                                   : fmt::format("layer {}, head {}", which.layer, which.head));
  const double room = width - 2 * kSheetMargin;
  canvas->text(kSheetMargin, kSheetMargin + 4, fitted(title, room, 16), {.size = 16, .bold = true});
  const std::string name = printable(explanation.model.name) + ": " + printable(explanation.text);
  canvas->text(kSheetMargin, kSheetMargin + 26, fitted(name, room, 11), kFaintText);
  for (size_t i = 0; i < panels.size(); ++i) {
    const auto column = static_cast<double>(i % static_cast<size_t>(across));
    const auto row = static_cast<double>(i / static_cast<size_t>(across));
    const Box box{kSheetMargin + column * (panel.width + kPanelGap),
                  kTop + row * pitch + kPanelTitle, panel.width, panel.height};
    const Heat heat = heat_of(panels[i].patches, patches_of(picture), ScoreKind::kMagnitude,
                              {drawn.height, drawn.width}, Grain::kSmooth);
    canvas->text(box.x, box.y - 10, panels[i].title, {.size = 11});
    canvas->picture(box, painted(drawn, heat, kOpacity));
    colour_bar(*canvas, box, heat, kOpacity);
  }
  wrapped_text(*canvas, height - 30, width,
               "Weights on patches, from the smallest to the largest of each panel.");
  return canvas->finish();
}

}  // namespace whyformer::report
