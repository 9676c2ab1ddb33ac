#include "discovery/named_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/edit_distance.h"
#include "discovery/blocks.h"
#include "discovery/site_tokens.h"
#include "ops/ops.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

const std::vector<std::string> kStreamAxes{"batch", "token", "feature"};
const std::vector<std::string> kRowAxes{"batch", "feature"};
const std::vector<std::string> kHeadAxes{"batch", "head", "token", "feature"};
const std::vector<std::string> kMapAxes{"batch", "head", "query", "key"};
const std::vector<std::string> kContextAxes{"batch", "head", "query", "feature"};
const std::vector<std::string> kPixelAxes{"batch", "channel", "row", "column"};

// Axes of a value of which nothing else is known.
std::vector<std::string> plain_axes(const Shape& shape) {
  std::vector<std::string> axes{"batch"};
  if (shape.size() == 2) axes.push_back("feature");
  if (shape.size() == 3) axes = kStreamAxes;
  for (size_t axis = axes.size(); axis < shape.size(); ++axis)
    axes.push_back(fmt::format("axis{}", axis));
  axes.resize(shape.size());
  return axes;
}

// The product whose softmax is the map.
Value product_of_map(const Graph& graph, Value attention) {
  const auto [queries, keys] = score_operands(graph, attention);
  for (const int user : graph.users(queries)) {
    const Node& node = graph.nodes()[user];
    if (is_a<ops::MatMul>(*node.op) && node.inputs == std::vector{queries, keys})
      return node.outputs[0];
  }
  return {};
}

// The product of the map with the values, behind what only passes it on.
const Node* context_node(const Graph& graph, Value map, int steps = 6) {
  for (const int user : graph.users(map)) {
    const Node& reader = graph.nodes()[user];
    if (is_a<ops::MatMul>(*reader.op)) return &reader;
    if (steps == 0 || reader.outputs.size() != 1) continue;
    if (graph.shape(reader.outputs[0]) != graph.shape(map)) continue;
    if (const Node* behind = context_node(graph, reader.outputs[0], steps - 1)) return behind;
  }
  return nullptr;
}

// What a read-out leaves of the stream: [batch, width].
Value row_behind(const Graph& graph, Value read, Value output) {
  if (!read.valid() || !output.valid() || graph.shape(read).size() != 3) return {};
  const Shape& stream = graph.shape(read);
  const Shape row{stream[0], stream[2]}, one_token{stream[0], 1, stream[2]};
  for (const int user : graph.users(read)) {
    Value value = graph.nodes()[user].outputs[0];
    if (graph.shape(value) == one_token && graph.users(value).size() == 1) {
      const Node& next = graph.nodes()[graph.users(value)[0]];
      if (is_a<ops::Reshape>(*next.op)) value = next.outputs[0];
    }
    if (graph.shape(value) == row) return value;
  }
  return {};
}

// Collects names; a value that is not there has none.
class Namer {
 public:
  Namer(const Graph& graph, const Discovery& found, const NamingFacts& facts)
      : graph_(graph), found_(found), facts_(facts) {}

  std::vector<NamedValue> names() {
    for (const auto& [name, value] : facts_.inputs) add_plain("inputs." + name, value);
    add_stream("words", facts_.words);
    add_stream("embeddings", facts_.embeddings);
    for (size_t site = 0; site < found_.sites.size(); ++site) add_site(static_cast<int>(site));
    if (reads_stream()) add("readout", row_behind(graph_, facts_.read, facts_.output), kRowAxes);
    for (const auto& [name, value] : facts_.outputs) add_plain(name, value);
    std::stable_sort(all_.begin(), all_.end(),
                     [](const NamedValue& a, const NamedValue& b) { return a.value < b.value; });
    return std::move(all_);
  }

 private:
  void add(const std::string& name, Value value, const std::vector<std::string>& axes,
           const std::vector<int>& order = {}) {
    if (!value.valid() || graph_.shape(value).size() != axes.size()) return;
    if (taken_.insert(name).second) all_.push_back({name, value, axes, order});
  }
  void add_stream(const std::string& name, Value value) { add(name, value, kStreamAxes); }
  void add_plain(const std::string& name, Value value) {
    if (!value.valid()) return;
    const Shape& shape = graph_.shape(value);
    const bool by_token = shape.size() == 2 && graph_.type(value).dtype == DType::kInt64;
    add(name, value,
        by_token            ? std::vector<std::string>{"batch", "token"}
        : shape.size() == 4 ? kPixelAxes
                            : plain_axes(shape));
  }

  // Not answers of single tokens, of which one is picked: those are outputs.
  bool reads_stream() const {
    const auto last = std::find_if(all_.rbegin(), all_.rend(), [](const NamedValue& one) {
      return one.name.ends_with(".middle");
    });
    return last == all_.rend() || !facts_.read.valid() ||
           graph_.shape(last->value).back() == graph_.shape(facts_.read).back();
  }

  // Where a site's names begin: "blocks.3.", "streams.1.blocks.0.", "sites.7.".
  std::string place_of(int index) const {
    const AttentionSite& site = found_.sites[index];
    if (site.query_stream < 0 || !site.is_self_attention()) return fmt::format("sites.{}.", index);
    int block = 0;
    for (int before = 0; before < index; ++before) {
      const AttentionSite& other = found_.sites[before];
      block += other.is_self_attention() && other.query_stream == site.query_stream ? 1 : 0;
    }
    const std::string stream =
        found_.streams.size() > 1 ? fmt::format("streams.{}.", site.query_stream) : "";
    return fmt::format("{}blocks.{}.", stream, block);
  }

  void add_site(int index) {
    const AttentionSite& site = found_.sites[index];
    const std::string place = place_of(index);
    const bool in_block = place.find("blocks.") != place.npos;
    const std::string attention = in_block ? place + "attention." : place;
    const bool windows = graph_.shape(site.attention)[0] > facts_.batch;
    const auto with_windows = [&](std::vector<std::string> axes) {
      if (windows) axes[0] = "window";
      return axes;
    };
    const auto [queries, keys] = score_operands(graph_, site.attention);
    if (const Value scores = product_of_map(graph_, site.attention); scores.valid()) {
      add(attention + "query", queries, with_windows(kHeadAxes));
      add(attention + "key", keys, with_windows(kHeadAxes), {0, 1, 3, 2});
      if (graph_.shape(scores) == graph_.shape(site.attention))
        add(attention + "scores", scores, with_windows(kMapAxes));
    }
    add(attention + "pattern", site.attention, with_windows(kMapAxes));
    if (const Node* context = context_node(graph_, site.attention)) {
      add(attention + "value", context->inputs[1], with_windows(kHeadAxes));
      add(attention + "context", context->outputs[0], with_windows(kContextAxes));
    }
    if (in_block) add_block(site, place);
  }

  void add_block(const AttentionSite& site, const std::string& place) {
    EncoderBlock block;
    try {
      block = find_residual_block(graph_, site);
    } catch (const UnsupportedModel&) {
      return;  // of another form: its attention has names all the same
    }
    const auto branch = [](const ResidualPart& part) { return part.add->inputs[1 - part.skip]; };
    add_stream(place + "input", block.input);
    add_stream(place + "attention.output", branch(block.attended));
    add_stream(place + "middle", block.attended.output());
    if (block.inner != nullptr) {
      add_stream(place + "mlp.inner", block.inner->outputs[0]);
      add_stream(place + "mlp.activation", block.activation->outputs[0]);
    }
    add_stream(place + "mlp.output", branch(block.fed_forward));
    add_stream(place + "output", block.output());
  }

  const Graph& graph_;
  const Discovery& found_;
  const NamingFacts& facts_;
  std::vector<NamedValue> all_;
  std::set<std::string> taken_;
};

// Names by the model's own files, of everything that depends on what is explained.
std::vector<NamedValue> native_names(const Graph& graph, const std::string& prefix) {
  std::map<std::string, int> count;
  std::vector<NamedValue> all;
  for (int id = graph.value_count(); id-- > 0;) {
    const Value value{id};
    if (!graph.varies(value) || graph.name(value).empty()) continue;
    std::string name = fmt::format("{}:{}", prefix, graph.name(value));
    if (const int number = count[name]++; number > 0) name += fmt::format("#{}", number);
    all.push_back({name, value, plain_axes(graph.shape(value))});
  }
  std::reverse(all.begin(), all.end());
  return all;
}

std::string nearest_name(std::string_view name, const std::vector<NamedValue>& all) {
  const NamedValue* best = nullptr;
  size_t least = 0;
  for (const NamedValue& one : all) {
    const size_t distance = edit_distance(name, one.name);
    if (best == nullptr || distance < least) best = &one, least = distance;
  }
  return best != nullptr && least <= 1 + name.size() / 3 ? best->name : "";
}

// Names with a star for each number, which is how people write patterns.
std::vector<NamedValue> with_stars(const std::vector<NamedValue>& names) {
  std::vector<NamedValue> starred = names;
  for (NamedValue& one : starred) {
    std::string name;
    for (const char letter : one.name) {
      const bool digit = letter >= '0' && letter <= '9';
      if (!digit)
        name += letter;
      else if (!name.ends_with('*'))
        name += '*';
    }
    one.name = name;
  }
  return starred;
}

}  // namespace

Shape NamedValue::shape(const Graph& graph) const {
  const Shape& held_shape = graph.shape(value);
  if (order.empty()) return held_shape;
  Shape shape;
  for (const int axis : order) shape.push_back(held_shape[axis]);
  return shape;
}

Tensor NamedValue::told(const Tensor& held) const {
  return order.empty() ? held : held.permute(order);
}

Tensor NamedValue::held(const Tensor& told) const {
  if (order.empty()) return told;
  std::vector<int> back(order.size());
  for (size_t axis = 0; axis < order.size(); ++axis) back[order[axis]] = static_cast<int>(axis);
  return told.permute(back);
}

int NamedValue::axis(std::string_view axis_name) const {
  const auto place = [&](std::string_view wanted) {
    const auto found = std::find(axes.begin(), axes.end(), wanted);
    return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
  };
  const int own = place(axis_name);
  return own < 0 && axis_name == "token" ? place("query") : own;
}

NamedValues::NamedValues(const Graph& graph, const Discovery& found, const NamingFacts& facts)
    : all_(Namer(graph, found, facts).names()),
      native_(native_names(graph, facts.native.prefix)),
      files_(facts.native) {
  std::map<Value, std::string> own_names;
  for (const NamedValue& one : native_) own_names[one.value] = one.name;
  for (NamedValue& one : all_) {
    if (const auto own = own_names.find(one.value); own != own_names.end())
      one.native = own->second;
  }
}

const NamedValue* NamedValues::find(std::string_view name) const {
  for (const std::vector<NamedValue>* names : {&all_, &native_}) {
    for (const NamedValue& one : *names) {
      if (one.name == name) return &one;
    }
  }
  return of_file_value(name);
}

const NamedValue* NamedValues::made_by(const FileNode& node) const {
  const std::string name = fmt::format("{}:{}", files_.prefix, node.title);
  for (const NamedValue& one : native_) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// By the name of the value in the file, where the graph has the name of the node.
const NamedValue* NamedValues::of_file_value(std::string_view name) const {
  const std::string prefix = files_.prefix + ":";
  if (files_.nodes == nullptr || !name.starts_with(prefix)) return nullptr;
  for (const FileNode& node : *files_.nodes) {
    if (!node.outputs.empty() && node.outputs[0] == name.substr(prefix.size()))
      return made_by(node);
  }
  return nullptr;
}

// The nearest value behind one of the file that the graph has, which it became part of.
std::string NamedValues::inside_what(std::string_view name) const {
  const std::string prefix = files_.prefix + ":";
  if (files_.nodes == nullptr || !name.starts_with(prefix)) return "";
  const std::string_view own = name.substr(prefix.size());
  std::set<std::string, std::less<>> reached;
  for (const FileNode& node : *files_.nodes) {  // in an order in which they can run
    const bool is_it =
        node.title == own || std::ranges::find(node.outputs, own) != node.outputs.end();
    const bool reads = std::ranges::any_of(
        node.inputs, [&](const std::string& input) { return reached.contains(input); });
    if (!is_it && !reads) continue;
    if (const NamedValue* found = reads ? made_by(node) : nullptr) {
      for (const NamedValue& one : all_) {
        if (one.value == found->value) return one.name;
      }
      return found->name;
    }
    reached.insert(node.outputs.begin(), node.outputs.end());
  }
  return "";
}

const NamedValue& NamedValues::at(std::string_view name) const {
  if (const NamedValue* found = find(name)) return *found;
  if (const std::string inside = inside_what(name); !inside.empty()) {
    throw InvalidInput(fmt::format(
        "'{}' is inside '{}': the model computes both in one step, so only the latter can be read "
        "and changed",
        printable(name), printable(inside)));
  }
  const bool is_native = name.find(':') != name.npos;
  const std::string meant = nearest_name(name, is_native ? native_ : all_);
  throw InvalidInput(fmt::format("the model has no value '{}'{}", printable(name),
                                 meant.empty()
                                     ? "; list its values to see their names"
                                     : fmt::format("; did you mean '{}'?", printable(meant))));
}

std::vector<const NamedValue*> NamedValues::matching(std::string_view glob) const {
  if (!is_glob(glob)) return {&at(glob)};
  std::vector<const NamedValue*> found;
  for (const NamedValue& one : glob.find(':') == glob.npos ? all_ : native_) {
    if (matches_glob(glob, one.name)) found.push_back(&one);
  }
  if (found.empty()) {
    const bool is_native = glob.find(':') != glob.npos;
    const std::string meant = nearest_name(glob, is_native ? native_ : with_stars(all_));
    throw InvalidInput(fmt::format("no value of the model matches '{}'{}", printable(glob),
                                   meant.empty()
                                       ? "; list its values to see their names"
                                       : fmt::format("; did you mean '{}'?", printable(meant))));
  }
  return found;
}

bool is_glob(std::string_view text) { return text.find_first_of("*?") != text.npos; }

bool matches_glob(std::string_view glob, std::string_view name) {
  // reached[j]: the letters of the glob so far match the first j of the name.
  std::vector<bool> reached(name.size() + 1, false);
  reached[0] = true;
  for (size_t i = 0; i < glob.size(); ++i) {
    const bool star = glob[i] == '*', deep = star && i + 1 < glob.size() && glob[i + 1] == '*';
    if (deep) ++i;
    std::vector<bool> next(name.size() + 1, false);
    for (size_t j = 0; j <= name.size(); ++j) {
      const bool takes = j > 0 && (deep || name[j - 1] != '.');
      if (star) {
        next[j] = reached[j] || (takes && next[j - 1]);
      } else if (j > 0) {
        next[j] = reached[j - 1] && (glob[i] == '?' ? takes : glob[i] == name[j - 1]);
      }
    }
    reached = std::move(next);
  }
  return reached[name.size()];
}

}  // namespace whyformer
