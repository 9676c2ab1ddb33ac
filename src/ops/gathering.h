// Operators that pick, place, repeat and pad elements by index. Elements may be of any type;
// indices are 64-bit integers and may depend on the model's inputs. Negative indices count from the
// end; every index is checked when the operator runs.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

namespace ops {
struct Gather : NamedOp<"Gather"> {};
struct GatherElements : NamedOp<"GatherElements"> {};
struct GatherND : NamedOp<"GatherND"> {};
struct ScatterElements : NamedOp<"ScatterElements"> {};
struct ScatterND : NamedOp<"ScatterND"> {};
struct Expand : NamedOp<"Expand"> {};
struct Tile : NamedOp<"Tile"> {};
struct Pad : NamedOp<"Pad"> {};
struct StridedSlice : NamedOp<"StridedSlice"> {};
struct Trilu : NamedOp<"Trilu"> {};
struct TopK : NamedOp<"TopK"> {};
struct OneHot : NamedOp<"OneHot"> {};
}  // namespace ops

// Slices of `axis` of x at the indices, whose axes take that axis' place (ONNX Gather).
Value gather(GraphBuilder& graph, Value x, Value indices, int axis, std::string name);
// ONNX GatherElements, GatherND, ScatterND and ScatterElements (which replace).
Value gather_elements(GraphBuilder& graph, Value x, Value indices, int axis, std::string name);
Value gather_nd(GraphBuilder& graph, Value x, Value indices, int batch_axes, std::string name);
Value scatter_nd(GraphBuilder& graph, Value x, Value indices, Value updates, std::string name);
Value scatter_elements(GraphBuilder& graph, Value x, Value indices, Value updates, int axis,
                       std::string name);
// The same, adding to zeros of `shape` in place of replacing.
Value scatter_nd_sum(GraphBuilder& graph, Value indices, Value updates, Shape shape,
                     std::string name);
Value scatter_elements_sum(GraphBuilder& graph, Value indices, Value updates, int axis, Shape shape,
                           std::string name);

// Broadcast to `shape` by NumPy's rules, both ways (ONNX Expand).
Value expand(GraphBuilder& graph, Value x, Shape shape, std::string name);
// Repeated along every axis.
Value tile(GraphBuilder& graph, Value x, std::vector<int64_t> repeats, std::string name);

enum class PadMode { kConstant, kEdge, kReflect, kWrap };
// `before` and `after` have one number per axis; negative ones cut off.
Value pad(GraphBuilder& graph, Value x, std::vector<int64_t> before, std::vector<int64_t> after,
          PadMode mode, double value, std::string name);

// Every `step`-th position of one axis from `start`, `length` of them; the step may be negative.
Value strided_slice(GraphBuilder& graph, Value x, int axis, int64_t start, int64_t step,
                    int64_t length, std::string name);

// The triangle of the last two axes on and above (or below) the diagonal `offset`; 0 elsewhere.
Value triangle(GraphBuilder& graph, Value x, bool upper, int64_t offset, std::string name);

// The `count` largest (or least) elements of an axis in order: {values, indices}.
std::vector<Value> top_k(GraphBuilder& graph, Value x, int axis, int64_t count, bool largest,
                         std::string name);

// `depth` numbers along a new axis: `on` at the index, `off` elsewhere.
Value one_hot(GraphBuilder& graph, Value indices, int axis, int64_t depth, double off, double on,
              DType dtype, std::string name);

}  // namespace whyformer
