// The words of table.json for our kinds.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "formats/tables/table_spec.h"

namespace whyformer {

template <typename Kind>
using SpecWord = std::pair<std::string_view, Kind>;

inline constexpr std::array kColumnKinds = {
    SpecWord<ColumnKind>{"number", ColumnKind::kNumber},
    SpecWord<ColumnKind>{"category", ColumnKind::kCategory},
};

inline constexpr std::array kMissingHows = {
    SpecWord<MissingCell::How>{"refuse", MissingCell::How::kRefuse},
    SpecWord<MissingCell::How>{"value", MissingCell::How::kValue},
    SpecWord<MissingCell::How>{"id", MissingCell::How::kId},
    SpecWord<MissingCell::How>{"mask", MissingCell::How::kMask},
    SpecWord<MissingCell::How>{"nan", MissingCell::How::kNan},
};

inline constexpr std::array kTaskKinds = {
    SpecWord<TaskSpec::Kind>{"binary", TaskSpec::Kind::kBinary},
    SpecWord<TaskSpec::Kind>{"multiclass", TaskSpec::Kind::kMulticlass},
    SpecWord<TaskSpec::Kind>{"multilabel", TaskSpec::Kind::kMultilabel},
    SpecWord<TaskSpec::Kind>{"regression", TaskSpec::Kind::kRegression},
};

inline constexpr std::array kTaskOutputs = {
    SpecWord<TaskSpec::Output>{"one-logit", TaskSpec::Output::kOneLogit},
    SpecWord<TaskSpec::Output>{"logits", TaskSpec::Output::kLogits},
    SpecWord<TaskSpec::Output>{"value", TaskSpec::Output::kValue},
    SpecWord<TaskSpec::Output>{"probabilities", TaskSpec::Output::kProbabilities},
};

inline constexpr std::array kContextRowsWords = {
    SpecWord<ContextRows>{"alone", ContextRows::kAlone},
    SpecWord<ContextRows>{"rows", ContextRows::kGiven},
    SpecWord<ContextRows>{"block", ContextRows::kBlock},
};

inline constexpr std::array kContextModes = {
    SpecWord<ContextMode>{"frozen", ContextMode::kFrozen},
    SpecWord<ContextMode>{"live", ContextMode::kLive},
};

template <typename Words, typename Kind>
constexpr std::string_view word_of(const Words& words, Kind kind) {
  for (const auto& [word, meaning] : words) {
    if (meaning == kind) return word;
  }
  return {};
}

}  // namespace whyformer
