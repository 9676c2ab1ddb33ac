#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/views/report_table.h"
#include "whyformer/model.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using report::ReportTable;

std::string outputs_line(const std::vector<std::string>& outputs) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(outputs.size(), 10); ++i) {
    text += (i == 0 ? "" : ", ") + outputs[i];
  }
  if (outputs.size() > 10) text += fmt::format(", … ({} in all)", outputs.size());
  return text;
}

std::string inputs_line(const std::vector<InputInfo>& inputs) {
  std::string text;
  for (const InputInfo& input : inputs) {
    if (text.size() > 400) return text + fmt::format(", … ({} in all)", inputs.size());
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", input.name,
                        fmt::join(input.shape, ", "));
  }
  return text;
}

std::string parameters_line(const ModelInfo& info) {
  const auto parameters = static_cast<double>(info.parameters);
  const std::string tensors = quantity(info.tensors, "tensor");
  return parameters < 1e5 ? fmt::format("{} in {}", info.parameters, tensors)
                          : fmt::format("{:.1f} million in {}", parameters / 1e6, tensors);
}

std::string stream_lines(const ModelInfo& info) {
  std::string text = fmt::format("\nstreams of tokens: {}\n", info.streams.size());
  for (size_t i = 0; i < info.streams.size(); ++i) {
    const StreamInfo& stream = info.streams[i];
    text +=
        fmt::format("{:>4}  {:>4} tokens  {:>3} {:<5}  {}\n", i, stream.tokens, stream.sites.size(),
                    stream.sites.size() == 1 ? "site" : "sites", printable(stream.units));
  }
  return text;
}

std::string site_lines(const ModelInfo& info) {
  std::string text = fmt::format("\nattention sites found in the graph: {}\n", info.sites.size());
  for (size_t i = 0; i < info.sites.size(); ++i) {
    const SiteInfo& site = info.sites[i];
    const std::string streams =
        site.self_attention() ? fmt::format("stream {}", site.query_stream)
                              : fmt::format("{} reads {}", site.query_stream, site.key_stream);
    std::string more = site.causal ? "causal  " : "";
    if (site.windows > 1) more += fmt::format("{} windows  ", site.windows);
    text += fmt::format("{:>4}  {:>3} {:<5}  {:<5}  {:<11}{}{}\n", i, site.heads,
                        site.heads == 1 ? "head" : "heads", site.kind, streams, more,
                        printable(site.name));
  }
  return text;
}

std::string column_lines(const ModelInfo& info) {
  ReportTable table{.head = {"column", "kind", "read as", "missing", "place"}, .names = 5};
  for (const ColumnInfo& column : info.columns) {
    const std::string unit = column.unit.empty() ? "" : fmt::format(" ({})", column.unit);
    table.rows.push_back({column.name + unit, column.kind, column.encoding, column.missing,
                          fmt::format("{}[{}]", column.input, fmt::join(column.at, ", "))});
  }
  std::string text = fmt::format("\ncolumns: {}\n", info.columns.size());
  constexpr int kWidest = 160;
  for (const std::string& line : report::terminal_lines(table, kWidest)) text += line + "\n";
  return text;
}

}  // namespace

std::string to_terminal(const ModelInfo& info) {
  std::string text;
  const auto line = [&text](std::string_view what, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<14}{}\n", what, printable(value));
  };
  line("model", info.model.name);
  line("architecture", info.model.architecture);
  line("task", info.task);
  if (info.opset > 0) line("format", fmt::format("ONNX, opset {}", info.opset));
  line("inputs", inputs_line(info.inputs));
  line("outputs", outputs_line(info.outputs));
  line("parameters", parameters_line(info));
  if (info.vocabulary > 0) line("vocabulary", fmt::format("{} tokens", info.vocabulary));
  if (info.max_tokens > 0) line("longest text", fmt::format("{} tokens", info.max_tokens));
  line("read-out", info.read_out);
  line("family", info.family);
  line("context", info.context);
  for (const std::string& note : info.notes) line("note", note);
  for (const std::string& what : info.not_told) line("not told", what);
  if (!info.columns.empty()) text += column_lines(info);
  if (!info.columns.empty() && info.streams.empty()) return text;
  return text + stream_lines(info) + site_lines(info);
}

}  // namespace whyformer
