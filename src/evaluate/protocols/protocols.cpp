#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "evaluate/protocols/protocol.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array kProtocols{
    &kCvpr21Perturbation, &kCvpr21Segmentation, &kEraser, &kRise, &kVqaPerturbation, &kRoar,
};

}  // namespace

std::span<const ProtocolInfo> protocols() {
  static const std::vector<ProtocolInfo> infos = [] {
    std::vector<ProtocolInfo> list;
    for (const Protocol* protocol : kProtocols) {
      list.push_back(protocol->info);
      for (const ProtocolPart& part : protocol->parts) {
        std::vector<EvaluationColumn>& columns = list.back().columns;
        columns.insert(columns.end(), part.columns.begin(), part.columns.end());
      }
    }
    return list;
  }();
  return infos;
}

const Protocol& find_protocol(std::string_view name) {
  std::vector<std::string> known;
  for (const Protocol* protocol : kProtocols) {
    if (protocol->info.name == name) return *protocol;
    known.push_back(protocol->info.name);
  }
  throw InvalidInput(fmt::format("there is no protocol '{}'; the protocols are {}",
                                 name.substr(0, 60), fmt::join(known, ", ")));
}

const ProtocolInfo& protocol_named(std::string_view name) {
  find_protocol(name);
  return *std::ranges::find(protocols(), name, &ProtocolInfo::name);
}

std::optional<bool> says_label(const Run& run, const std::vector<double>& outputs, int64_t label) {
  if (!run.has_probabilities()) return std::nullopt;
  if (!run.labels_exclude_each_other() || outputs.size() == 1) return outputs[label] > 0;
  return std::ranges::max_element(outputs) - outputs.begin() == label;
}

void add_curve(std::vector<EvaluationColumn>& columns, const EvaluationColumn& like,
               std::span<const double> shares) {
  for (const double share : shares) {
    EvaluationColumn column = like;
    column.metric = fmt::format("{}@{:g}", like.metric, share);
    column.point = CurvePoint{like.metric, share};
    columns.push_back(std::move(column));
  }
}

}  // namespace whyformer
