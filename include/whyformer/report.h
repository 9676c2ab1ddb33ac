// An explanation as JSON, for a terminal, as an HTML page, and as pictures. Nothing here computes scores.
#pragma once

#include <string>

#include "whyformer/explanation.h"

namespace whyformer {

// What becomes of special tokens ([CLS], </s>, …) in pictures and pages.
enum class SpecialTokens {
  kShow,     // drawn like the others
  kHide,     // not drawn; colours and bars are still scaled by all tokens
  kExclude,  // not drawn, and colours and bars are scaled without them
};

struct ReportOptions {
  SpecialTokens special = SpecialTokens::kShow;
};

struct TerminalOptions {
  bool colour = true;
  int width = 80;  // columns
  SpecialTokens special = SpecialTokens::kShow;
};

// One JSON object (schema: docs/json.md). A negative indent gives a single line.
std::string to_json(const Explanation& explanation, int indent = 2);

// Coloured tokens and bars, ending in a newline.
std::string to_terminal(const Explanation& explanation, const TerminalOptions& options = {});

// A self-contained page that works offline.
std::string to_html(const Explanation& explanation, const ReportOptions& options = {});

enum class PictureFormat { kSvg, kPng };

// Bars of every method side by side.
std::string bars_picture(const Explanation& explanation, PictureFormat format,
                         const ReportOptions& options = {});

// Attention maps: every layer (mean over heads), or one layer's heads.
struct AttentionPicture {
  int layer = -1;  // -1: a panel per layer, heads averaged; otherwise a panel per head of this layer
};
std::string attention_picture(const Explanation& explanation, PictureFormat format,
                              const AttentionPicture& which = {}, const ReportOptions& options = {});

// Head importance (whyformer/heads.h): a grid of layers and heads per measure, and the pruning curve.
struct HeadImportance;
std::string to_json(const HeadImportance& importance, int indent = 2);
std::string to_terminal(const HeadImportance& importance, const TerminalOptions& options = {});
std::string heads_picture(const HeadImportance& importance, PictureFormat format);

// Concept tests (whyformer/concepts.h): scores with error bars, and what the tests say.
struct ConceptReport;
std::string to_json(const ConceptReport& report, int indent = 2);
std::string to_terminal(const ConceptReport& report, const TerminalOptions& options = {});
std::string concepts_picture(const ConceptReport& report, PictureFormat format);

// What was found in a model (whyformer/model.h): its streams and attention sites.
struct ModelInfo;
std::string model_picture(const ModelInfo& info, PictureFormat format);
std::string to_html(const ModelInfo& info);

}  // namespace whyformer
