#include "onnx/sort_nodes.h"

#include <fmt/format.h>

#include <queue>
#include <unordered_map>

#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

// Names that a branch takes from outside.
void collect_outer_names(const FileGraph& graph, std::vector<std::string>& names) {
  std::set<std::string> inside;
  for (const auto& [name, tensor] : graph.initialisers) inside.insert(name);
  for (const DeclaredValue& input : graph.inputs) inside.insert(input.name);
  for (const OnnxNode& node : graph.nodes) inside.insert(node.outputs.begin(), node.outputs.end());
  const auto take = [&](const std::string& name) {
    if (!name.empty() && !inside.contains(name)) names.push_back(name);
  };
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string& name : names_read(node)) take(name);
  }
  for (const DeclaredValue& output : graph.outputs) take(output.name);
}

}  // namespace

std::vector<std::string> names_read(const OnnxNode& node) {
  std::vector<std::string> names = node.inputs;
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* branch = std::get_if<std::shared_ptr<const FileGraph>>(&attribute)) {
      collect_outer_names(**branch, names);
    }
  }
  return names;
}

void sort_nodes(std::vector<OnnxNode>& nodes) {
  std::unordered_map<std::string, size_t> maker;
  for (size_t index = 0; index < nodes.size(); ++index) {
    for (const std::string& output : nodes[index].outputs) {
      if (output.empty()) continue;
      if (!maker.emplace(output, index).second) {
        throw FileError(
            fmt::format("the ONNX file is damaged: two nodes make {}", in_quotes(output)));
      }
    }
  }
  std::vector<std::vector<size_t>> readers(nodes.size());
  std::vector<size_t> waits_for(nodes.size(), 0);
  for (size_t index = 0; index < nodes.size(); ++index) {
    for (const std::string& name : names_read(nodes[index])) {
      const auto found = maker.find(name);
      if (found == maker.end()) continue;
      readers[found->second].push_back(index);
      ++waits_for[index];
    }
  }
  // The earliest node that can run goes first, which keeps an order that is already right.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t index = 0; index < nodes.size(); ++index) {
    if (waits_for[index] == 0) ready.push(index);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t index = ready.top();
    ready.pop();
    order.push_back(index);
    for (const size_t reader : readers[index]) {
      if (--waits_for[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() != nodes.size()) {
    throw FileError("the ONNX file is damaged: its nodes form a cycle");
  }
  std::vector<OnnxNode> sorted;
  sorted.reserve(nodes.size());
  for (const size_t index : order) sorted.push_back(std::move(nodes[index]));
  nodes = std::move(sorted);
}

}  // namespace whyformer::onnx
