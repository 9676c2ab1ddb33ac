// A set of strings in which all those that start at a place of a text are found in one walk.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer::tokenization {

class PrefixTree {
 public:
  struct Entry {
    std::string_view text;  // only read while the tree is built
    int32_t id;
  };

  PrefixTree() : PrefixTree(std::vector<Entry>{}) {}
  explicit PrefixTree(std::vector<Entry> entries);  // of equal texts the highest id counts; empty
                                                    // ones are never found

  // Calls found(length, id) for each entry that is a prefix of `text`, the shortest first.
  template <typename Found>
  void find_prefixes(std::string_view text, Found found) const {
    size_t node = 0;
    for (size_t depth = 0; depth < text.size(); ++depth) {
      const Node& parent = nodes_[node];
      const char* labels = labels_.data() + parent.first_child;
      const void* child = std::memchr(labels, text[depth], parent.children);
      if (child == nullptr) return;
      node = parent.first_child + static_cast<size_t>(static_cast<const char*>(child) - labels);
      if (nodes_[node].id >= 0) found(depth + 1, nodes_[node].id);
    }
  }

 private:
  struct Node {
    uint32_t first_child = 0;  // the children of a node lie side by side
    uint32_t children = 0;
    int32_t id = -1;
  };

  std::vector<Node> nodes_;
  std::string labels_;  // of the edge that leads to each node
};

}  // namespace whyformer::tokenization
