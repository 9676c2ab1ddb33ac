#include <nlohmann/json.hpp>

#include "whyformer/model.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string to_json(const ModelInfo& info, int indent) {
  Json sites = Json::array(), streams = Json::array(), inputs = Json::array();
  for (const SiteInfo& site : info.sites) {
    sites.push_back({{"name", site.name},
                     {"heads", site.heads},
                     {"kind", site.kind},
                     {"causal", site.causal},
                     {"queries", site.queries},
                     {"keys", site.keys},
                     {"windows", site.windows},
                     {"query_stream", site.query_stream},
                     {"key_stream", site.key_stream}});
  }
  for (const StreamInfo& stream : info.streams) {
    streams.push_back(
        {{"tokens", stream.tokens}, {"units", stream.units}, {"sites", stream.sites}});
  }
  for (const InputInfo& input : info.inputs) {
    inputs.push_back({{"name", input.name}, {"type", input.type}, {"shape", input.shape}});
  }
  Json columns = Json::array();
  for (const ColumnInfo& column : info.columns) {
    columns.push_back({{"name", column.name},
                       {"kind", column.kind},
                       {"unit", column.unit},
                       {"encoding", column.encoding},
                       {"missing", column.missing},
                       {"input", column.input},
                       {"at", column.at}});
  }
  const Json json{{"model", {{"name", info.model.name}, {"architecture", info.model.architecture}}},
                  {"task", info.task},
                  {"opset", info.opset},
                  {"inputs", inputs},
                  {"outputs", info.outputs},
                  {"parameters", info.parameters},
                  {"tensors", info.tensors},
                  {"vocabulary", info.vocabulary},
                  {"max_tokens", info.max_tokens},
                  {"attention", sites},
                  {"streams", info.streams.size()},
                  {"stream_list", streams},
                  {"read_out", info.read_out},
                  {"notes", info.notes},
                  {"family", info.family},
                  {"columns", columns},
                  {"context", info.context},
                  {"not_told", info.not_told}};
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace whyformer
