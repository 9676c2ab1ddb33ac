#include "report/pages/picture_page_data.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/pages/page_data.h"
#include "report/views/estimate_view.h"
#include "report/views/heat_overlay.h"
#include "report/views/picture_view.h"
#include "report/views/text.h"

namespace whyformer::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostAnswers = 10;
constexpr int64_t kLargestSide = 512;  // pixels that a page carries

MapSize stored_size(const PictureView& picture) {
  const int64_t longer = std::max(picture.width, picture.height);
  return longer > kLargestSide ? drawn_size(picture) : MapSize{picture.height, picture.width};
}

// A byte per pixel: unsigned strengths as 0 to 255, signed ones as 0 to 254 around 127.
std::vector<uint8_t> codes_of(const Heat& heat) {
  std::vector<uint8_t> codes;
  codes.reserve(heat.strengths.size());
  for (const double strength : heat.strengths) {
    codes.push_back(static_cast<uint8_t>(
        std::lround(heat.kind == ScoreKind::kSigned ? 127 + 127 * strength : 255 * strength)));
  }
  return codes;
}

Json pixels_json(const PictureView& picture, const Attribution& attribution,
                 std::vector<PageBlock>& blocks) {
  if (attribution.pixels.empty()) return nullptr;
  const Heat heat = heat_of(picture, attribution, stored_size(picture), Grain::kBlocks);
  const size_t index = blocks.size();
  blocks.push_back({fmt::format("pixels-{}", index), codes_of(heat)});
  return {{"block", index}, {"low", heat.low}, {"high", heat.high}};
}

Json methods_json(const PanelLayout& layout, std::vector<PageBlock>& blocks) {
  const std::vector<Explanation>& explanations = layout.grids;
  const std::vector<MethodColumn> columns = method_columns(explanations),
                                  whole_columns = method_columns(layout.whole);
  Json list = Json::array();
  for (size_t row = 0; row < explanations.size(); ++row) {
    for (size_t column = 0; column < columns.size(); ++column) {
      const Attribution* attribution = columns[column].attributions[row];
      if (attribution == nullptr) continue;
      const Explanation& explanation = explanations[row];
      Json method = method_json(explanation, *attribution, SpecialTokens::kExclude);
      if (explanations.size() > 1) {
        method["name"] = printable(attribution->method + " · " + target_label(explanation).label);
      }
      // What the scores add up to concerns all of them, also those of a text beside the picture.
      if (attribution->estimate) {
        method["estimate"]["line"] =
            printable(estimate_line(*whole_columns[column].attributions[row]));
      }
      method["row"] = row;
      method["column"] = column;
      method["pixels"] = pixels_json(layout.picture(), *attribution, blocks);
      list.push_back(std::move(method));
    }
  }
  return list;
}

Json columns_json(std::span<const Explanation> explanations) {
  Json list = Json::array();
  for (const MethodColumn& column : method_columns(explanations)) {
    list.push_back(printable(column.name));
  }
  return list;
}

Json overlay_json() {
  const auto ramp = [](double sign, ScoreKind kind) {
    Json colours = Json::array();
    for (int i = 0; i < 256; ++i) {
      const Colour colour = overlay_colour(sign * i / 255, kind);
      for (const uint8_t channel : {colour.red, colour.green, colour.blue}) {
        colours.push_back(channel);
      }
    }
    return colours;
  };
  return {{"magnitude", ramp(1, ScoreKind::kMagnitude)},
          {"positive", ramp(1, ScoreKind::kSigned)},
          {"negative", ramp(-1, ScoreKind::kSigned)},
          {"power", kOverlayPower}};
}

Json picture_json(const PictureView& picture) {
  const MapSize stored = stored_size(picture);
  return {{"width", stored.columns},
          {"height", stored.rows},
          {"first", picture.first_patch},
          {"rows", picture.rows},
          {"columns", picture.columns}};
}

std::string seen_sentence(const PictureView& picture) {
  if (picture.file_width <= 0 || picture.file_height <= 0) return "";
  return fmt::format("sees {:.0f} × {:.0f} of {} × {} pixels as {} × {}",
                     picture.right - picture.left, picture.bottom - picture.top, picture.file_width,
                     picture.file_height, picture.width, picture.height);
}

Json attention_json(const PooledAttention& attention) {
  Json json = page_attention_json(attention.packed);
  json["block"] = attention.block;
  json["block_rows"] = attention.block_rows;
  json["block_columns"] = attention.block_columns;
  return json;
}

// The words are the same in all of them.
Json text_side_json(std::span<const Explanation> texts, const ReportOptions& options) {
  Json methods = Json::array();
  for (const Explanation& text : texts) {
    for (const Attribution& attribution : text.attributions) {
      methods.push_back(token_method_json(text, attribution, SpecialTokens::kExclude));
    }
  }
  return {{"pieces", page_json(texts.front(), options)["pieces"]}, {"methods", methods}};
}

}  // namespace

PicturePage picture_page(const PanelLayout& layout, const PooledAttention& attention,
                         const ReportOptions& options) {
  const Explanation& first = layout.grids.front();
  PicturePage page;
  Json answers = Json::array();
  for (const LabelValue& answer : explained_labels(layout.whole, kMostAnswers)) {
    answers.push_back(label_json(answer));
  }
  Json classes = Json::array();
  for (const Explanation& explanation : layout.whole) {
    classes.push_back(label_json(target_label(explanation)));
  }
  Json data = page_json(first, options);
  data["pair"] = input_texts(layout.whole.front()).size() > 1;
  data["answers"] = answers;
  data["classes"] = classes;
  data["file"] = printable(first.text);
  data["picture"] = picture_json(layout.picture());
  data["seen"] = seen_sentence(layout.picture());
  data["columns"] = columns_json(layout.grids);
  data["methods"] = methods_json(layout, page.blocks);
  if (!layout.tokens.empty()) data["text_side"] = text_side_json(layout.tokens, options);
  data["overlay"] = overlay_json();
  data["attention"] = attention_json(attention);
  page.data = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  page.blocks.push_back({"picture", resized(layout.picture(), stored_size(layout.picture())).rgb});
  return page;
}

}  // namespace whyformer::report
