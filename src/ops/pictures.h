// Operators on grids of one, two or three space axes: [batch, channels, space…].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/linear_weights.h"

namespace whyformer {

namespace ops {
struct Conv : NamedOp<"Conv"> {};
struct ConvProduct : NamedOp<"ConvProduct"> {};  // whose weight depends on the inputs
struct ConvTranspose : NamedOp<"ConvTranspose"> {};
struct MaxPool : NamedOp<"MaxPool"> {};
struct AveragePool : NamedOp<"AveragePool"> {};
struct Resize : NamedOp<"Resize"> {};
struct GridSample : NamedOp<"GridSample"> {};
}  // namespace ops

// Where a kernel reads: one number per space axis.
struct Window {
  std::vector<int64_t> kernel = {};
  std::vector<int64_t> strides = {};
  std::vector<int64_t> dilations = {};
  std::vector<int64_t> pads_before = {};
  std::vector<int64_t> pads_after = {};
  int64_t groups = 1;
  // Of pooling: how far the last window may reach past the pads, where nothing is counted.
  std::vector<int64_t> overhang = {};
};

// weight [features, channels / groups, kernel…]; bias [features] or undefined.
Value convolution(GraphBuilder& graph, Value x, Tensor weight, Tensor bias, Window window,
                  std::string name);
// The same with one group and rows [channels · kernel] per feature, packed once for many graphs.
Value convolution(GraphBuilder& graph, Value x, std::shared_ptr<const LinearWeights> weights,
                  Window window, std::string name);
// The same where the weight depends on the inputs.
Value convolution(GraphBuilder& graph, Value x, Value weight, Value bias, Window window,
                  std::string name);
// weight [channels, features / groups, kernel…]; `output_pads` lengthen the end of each space axis.
Value transposed_convolution(GraphBuilder& graph, Value x, Tensor weight, Tensor bias,
                             Window window, std::vector<int64_t> output_pads, std::string name);

Value max_pool(GraphBuilder& graph, Value x, Window window, std::string name);
Value average_pool(GraphBuilder& graph, Value x, Window window, bool count_pads, std::string name);

enum class ResizeMode { kNearest, kLinear, kCubic };
enum class ResizeCoordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAsymmetric,
  kAlignCorners,
  kCrop
};
enum class ResizeRounding { kPreferFloor, kPreferCeil, kFloor, kCeil };
struct ResizeOptions {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeRounding rounding = ResizeRounding::kPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  double extrapolation = 0;
  std::vector<double> roi = {};  // for kCrop: starts, then ends, per axis
};
// One length and one scale per axis of x.
Value resize(GraphBuilder& graph, Value x, std::vector<int64_t> lengths, std::vector<double> scales,
             ResizeOptions options, std::string name);

enum class GridPadding { kZeros, kBorder, kReflection };
// x [batch, channels, height, width] read at grid [batch, rows, columns, 2], coordinates in -1…1.
Value grid_sample(GraphBuilder& graph, Value x, Value grid, ResizeMode mode, GridPadding padding,
                  bool align_corners, std::string name);

}  // namespace whyformer
