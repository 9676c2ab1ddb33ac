#include "onnx/operators.h"

#include <map>

namespace whyformer::onnx {

std::vector<OnnxOperator> all_operators() {
  std::vector<OnnxOperator> all;
  for (const auto& family :
       {elementwise_operators(), reduction_operators(), layout_operators(), making_operators(),
        gathering_operators(), product_operators(), normalising_operators(), picture_operators(),
        attention_operators(), quantised_operators(), fused_quantised_operators()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

const OnnxOperator* find_operator(std::string_view domain, std::string_view kind) {
  static const auto table = [] {
    std::map<std::pair<std::string_view, std::string_view>, OnnxOperator> entries;
    for (const OnnxOperator& entry : all_operators()) entries[{entry.domain, entry.kind}] = entry;
    return entries;
  }();
  const auto found = table.find({domain, kind});
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace whyformer::onnx
