// What a report calls a model.
#pragma once

#include <fmt/format.h>

#include <string>

#include "whyformer/model.h"

namespace whyformer {

// "bert-tiny (BertForSequenceClassification)"; the name alone where nothing tells the architecture.
inline std::string model_title(const ModelName& model) {
  return model.architecture.empty() ? model.name
                                    : fmt::format("{} ({})", model.name, model.architecture);
}

}  // namespace whyformer
