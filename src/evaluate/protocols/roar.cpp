#include <array>

#include "evaluate/protocols/protocol.h"

namespace whyformer {
namespace {

constexpr std::array<double, 6> kRemoved{0, 0.1, 0.3, 0.5, 0.7, 0.9};

std::vector<EvaluationColumn> roar_columns() {
  const EvaluationColumn accuracy{
      .metric = "accuracy",
      .hiding = "background",
      .higher_is_better = false,
      .summary =
          "accuracy on test rows, in per cent, of models that were trained again after the "
          "highest-ranked columns of each row were replaced",
      .paper = "Hooker et al., NeurIPS 2019",
      .misleads =
          "judges what can be learned without the columns: a column that others repeat "
          "costs nothing, however much the explained model uses it"};
  std::vector<EvaluationColumn> columns{accuracy};
  columns[0].metric = "accuracy-area";
  columns[0].summary = "area under that accuracy from 0 to 90 % of the columns, so at most 90";
  add_curve(columns, accuracy, kRemoved);
  return columns;
}

}  // namespace

const Protocol kRoar{
    .info = {.name = "roar",
             .summary = "remove and retrain: accuracy of models trained again without the "
                        "highest-ranked 10 to 90 % of the columns",
             .paper = "Hooker et al., NeurIPS 2019",
             .data = "rows of a table with labels, for training and for the test"},
    .parts = {{ExplainedClass::kPredicted, roar_columns(), nullptr}},
    .why_not =
        "roar trains the model again, so it needs the procedure that trained it, which only "
        "Python can be given"};

}  // namespace whyformer
