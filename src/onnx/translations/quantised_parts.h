// What translations of quantised operators are put together from.
#pragma once

#include "onnx/node_scope.h"

namespace whyformer::onnx {

// x held as floats, whatever it is held as.
Value as_floats(NodeScope& scope, Value x);

// Input `index` as floats; invalid where it is left out.
Value optional_floats(NodeScope& scope, size_t index);

// (input - zero) · scale, the three at these positions, with scales along `axis` if they are many.
Value dequantised_input(NodeScope& scope, size_t x, size_t scale, size_t zero, int axis);

// x in the range of the type of the zero at position `zero` (unsigned 8 bits if there is none).
Value quantised_output(NodeScope& scope, Value x, size_t scale, size_t zero);

// Whole numbers times `factor`, rounded and moved by the zero at that position.
Value requantised(NodeScope& scope, Value sums, Value factor, int axis, size_t zero);

enum class StoredAs { kRows, kColumns };  // a matrix as it is multiplied, or transposed
// (a - a_zero)·(b - b_zero), exactly. Zeros may be invalid.
Value integer_product(NodeScope& scope, Value a, Value a_zero, size_t b, Value b_zero,
                      StoredAs stored = StoredAs::kRows);

Value multiplied(NodeScope& scope, Value a, Value b);
Value divided(NodeScope& scope, Value a, Value b);

// Scales of rows of a product, one for all or one per row, so that they broadcast to it.
Value row_scale(NodeScope& scope, Value scale);

}  // namespace whyformer::onnx
