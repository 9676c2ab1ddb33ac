// An explanation as JSON, for a terminal, as an HTML page, and as pictures. Nothing here computes
// scores.
#pragma once

#include <span>
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

// Coloured tokens and bars, ending in a newline; of token streams the highest scores of each.
std::string to_terminal(const Explanation& explanation, const TerminalOptions& options = {});

// Several explained classes of one picture, below each other. Also takes a single explanation.
std::string to_terminal(std::span<const Explanation> explanations,
                        const TerminalOptions& options = {});

// A self-contained page that works offline.
std::string to_html(const Explanation& explanation, const ReportOptions& options = {});

// Several explained classes of one picture, with the methods side by side. Also takes a single
// explanation.
std::string to_html(std::span<const Explanation> explanations, const ReportOptions& options = {});

enum class PictureFormat { kSvg, kPng };

// Bars of every method side by side, with standard errors as whiskers; below them the coloured text
// and the force bar of each method whose scores lead from a base to the value.
std::string bars_picture(const Explanation& explanation, PictureFormat format,
                         const ReportOptions& options = {});

// From the base at the bottom to the value at the top: the strongest nine words or columns, and all
// others together. `method` may be left out: the first one whose scores add up. Throws InvalidInput
// where they do not.
std::string waterfall_picture(const Explanation& explanation, PictureFormat format,
                              const std::string& method = "");

// Pairwise interactions, a triangle per method that has them. Throws InvalidInput where none does.
std::string interactions_picture(const Explanation& explanation, PictureFormat format);

// Heat maps over an explained picture.
enum class Grain {
  kSmooth,  // bilinear between the middles of patches
  kBlocks,  // a block per patch
};
enum class Segment {
  kNone,
  kOutline,  // the outline of the region above Otsu's threshold
  kMask,     // that region alone
};
struct OverlayOptions {
  Grain grain = Grain::kSmooth;
  Segment segment = Segment::kNone;
  double opacity = 0.85;  // of the strongest scores, within [0, 1]
};

// A row per explanation (classes of one picture), a column for the picture and for each method.
std::string overlay_picture(std::span<const Explanation> explanations, PictureFormat format,
                            const OverlayOptions& options = {});

// Attention maps: every layer (mean over heads), one layer's heads, or one of them. Of a picture:
// what its class token attends to, over the picture; the mean over all patches where there is no
// such token.
struct AttentionPicture {
  int layer =
      -1;         // -1: a panel per layer, heads averaged; otherwise a panel per head of this layer
  int head = -1;  // of the layer, which must be given; -1: all of them
};
std::string attention_picture(const Explanation& explanation, PictureFormat format,
                              const AttentionPicture& which = {},
                              const ReportOptions& options = {});

// Head importance (whyformer/heads.h): a grid of layers and heads per measure, the roles of
// heads, and the pruning curve.
struct HeadImportance;
std::string to_json(const HeadImportance& importance, int indent = 2);
std::string to_terminal(const HeadImportance& importance, const TerminalOptions& options = {});
std::string to_html(const HeadImportance& importance);  // the picture, and tables of roles
std::string heads_picture(const HeadImportance& importance, PictureFormat format);

// Concept tests (whyformer/concepts.h): scores with error bars, and what the tests say.
struct ConceptReport;
std::string to_json(const ConceptReport& report, int indent = 2);
std::string to_terminal(const ConceptReport& report, const TerminalOptions& options = {});
std::string to_html(const ConceptReport& report);  // the plot, and tables of every test
std::string concepts_picture(const ConceptReport& report, PictureFormat format);

// What layers know, by linear probes (whyformer/learned.h): accuracies with their intervals beside
// the controls.
struct LearnedReport;
std::string to_json(const LearnedReport& report, int indent = 2);
std::string to_terminal(const LearnedReport& report, const TerminalOptions& options = {});
std::string to_html(const LearnedReport& report);
std::string learned_picture(const LearnedReport& report, PictureFormat format);

// A method's scores over many inputs (whyformer/summary.h): bars, and a point per score.
struct Summary;
enum class SummaryPlot {
  kBar,
  kBeeswarm,
  kHeatMap,  // features by inputs, like inputs beside each other
};
std::string to_json(const Summary& summary, int indent = 2);
std::string to_terminal(const Summary& summary, const TerminalOptions& options = {});
std::string to_html(const Summary& summary);  // all plots and a table
std::string summary_picture(const Summary& summary, SummaryPlot plot, PictureFormat format);
// Scores of one column of a table over its values or categories, in the colours of the column that
// it seems to interact with most. An empty name: the strongest column. Throws InvalidInput for a
// name that the summary does not have, and where it is not about a table.
std::string dependence_picture(const Summary& summary, const std::string& column,
                               PictureFormat format);

// Importances of columns by several methods (whyformer/compared_importances.h).
struct ComparedImportances;
std::string to_json(const ComparedImportances& found, int indent = 2);
std::string to_terminal(const ComparedImportances& found, const TerminalOptions& options = {});
std::string to_html(const ComparedImportances& found);

// Sanity checks (whyformer/sanity.h): similarities of explanations before and after, and verdicts.
struct SanityReport;
std::string to_json(const SanityReport& report, int indent = 2);
std::string to_terminal(const SanityReport& report, const TerminalOptions& options = {});

// Methods measured by metrics over many inputs (whyformer/evaluation.h).
struct Evaluation;
struct EvaluatedInput;
std::string to_json(const Evaluation& evaluation, int indent = 2);
std::string to_json(const EvaluatedInput& input);  // one line, which evaluated_input_of reads
std::string to_csv(const Evaluation& evaluation);  // a line for each input, method and metric
std::string to_terminal(const Evaluation& evaluation, const TerminalOptions& options = {});
std::string to_html(const Evaluation& evaluation);
std::string evaluation_picture(const Evaluation& evaluation, PictureFormat format);
// What a line of to_json(EvaluatedInput) says; throws InvalidInput for any other text.
EvaluatedInput evaluated_input_of(const std::string& line);

// Agreement of methods over many inputs (whyformer/method_agreement.h).
struct AgreementReport;
std::string to_json(const AgreementReport& report, int indent = 2);
std::string to_terminal(const AgreementReport& report, const TerminalOptions& options = {});
std::string to_html(const AgreementReport& report);
std::string agreement_picture(const AgreementReport& report, PictureFormat format);
struct AgreementOverModels;
std::string to_json(const AgreementOverModels& found, int indent = 2);
std::string to_terminal(const AgreementOverModels& found, const TerminalOptions& options = {});
std::string to_html(const AgreementOverModels& found);

// Is attention explanation? (whyformer/debate.h)
struct DebateReport;
struct DebateInput;
std::string to_json(const DebateReport& report, int indent = 2);
std::string to_json(const DebateInput& input);  // one line, which debate_input_of reads
std::string to_terminal(const DebateReport& report, const TerminalOptions& options = {});
std::string to_html(const DebateReport& report);
// Divergence of adversarial attention over the largest weight, and both distributions on the words
// of a few inputs.
std::string debate_picture(const DebateReport& report, PictureFormat format);
// What a line of to_json(DebateInput) says; throws InvalidInput for any other text.
DebateInput debate_input_of(const std::string& line);

// What was found in a model (whyformer/model.h): its streams and attention sites.
struct ModelInfo;
std::string to_json(const ModelInfo& info, int indent = 2);
std::string to_terminal(const ModelInfo& info);
std::string model_picture(const ModelInfo& info, PictureFormat format);
std::string to_html(const ModelInfo& info);

// Relevance that enters and leaves every operator (whyformer/relevance.h).
struct RelevanceReport;
std::string to_json(const RelevanceReport& report, int indent = 2);
std::string to_terminal(const RelevanceReport& report);

// Patching, ablation and the logit lens (whyformer/patching.h): a heat map for each grid.
struct PatchReport;
std::string to_json(const PatchReport& report, int indent = 2);
std::string to_terminal(const PatchReport& report, const TerminalOptions& options = {});
std::string to_html(const PatchReport& report);
std::string patch_picture(const PatchReport& report, PictureFormat format);

// Columns that a model of tables needs (whyformer/importance.h), the most important first.
struct ImportanceReport;
std::string to_terminal(const ImportanceReport& report);

}  // namespace whyformer
