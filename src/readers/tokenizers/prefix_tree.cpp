#include "readers/tokenizers/prefix_tree.h"

#include <algorithm>

namespace whyformer::tokenization {

PrefixTree::PrefixTree(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    const int order = a.text.compare(b.text);
    return order != 0 ? order < 0 : a.id < b.id;
  });
  // The entries below each node. Breadth first, so that the children of a node are made together.
  struct Range {
    uint32_t begin, end, depth;
  };
  std::vector<Range> ranges{{0, static_cast<uint32_t>(entries.size()), 0}};
  nodes_.emplace_back();
  labels_.push_back(0);
  for (size_t node = 0; node < nodes_.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    while (begin < end && entries[begin].text.size() == depth)
      nodes_[node].id = entries[begin++].id;
    nodes_[node].first_child = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char label = entries[begin].text[depth];
      uint32_t stop = begin + 1;
      while (stop < end && entries[stop].text[depth] == label) ++stop;
      ranges.push_back({begin, stop, depth + 1});
      nodes_.emplace_back();
      labels_.push_back(label);
      ++nodes_[node].children;
      begin = stop;
    }
  }
}

}  // namespace whyformer::tokenization
