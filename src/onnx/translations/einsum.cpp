#include "onnx/translations/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "formats/file_checks.h"
#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// A value whose axes have letters.
struct Lettered {
  Value value;
  std::string letters;
};

bool contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// Letters of `letters` for which `test` holds, in order.
template <typename Test>
std::string those(const std::string& letters, const Test& test) {
  std::string result;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(result), test);
  return result;
}

class Einsum {
 public:
  Einsum(NodeScope& scope, std::string equation, const std::vector<Value>& operands)
      : scope_(scope), graph_(scope.graph()) {
    std::erase(equation, ' ');
    parse(equation, operands);
  }

  Value result() {
    Lettered left = operands_[0];
    left = summed(left, [&](char letter) { return is_needed_from(letter, 1); });
    for (size_t index = 1; index < operands_.size(); ++index) {
      const auto is_needed = [&](char letter) { return is_needed_from(letter, index + 1); };
      Lettered right = summed(operands_[index], [&](char letter) {
        return contains(left.letters, letter) || is_needed(letter);
      });
      left = summed(
          left, [&](char letter) { return contains(right.letters, letter) || is_needed(letter); });
      left = product_of(left, right, is_needed);
    }
    return in_order(left, output_);
  }

 private:
  void parse(const std::string& equation, const std::vector<Value>& operands) {
    const size_t arrow = equation.find("->");
    std::string left = equation.substr(0, arrow);
    size_t wildcard_axes = 0;
    std::vector<std::string> terms(1);
    for (const char c : left) c == ',' ? terms.emplace_back() : (terms.back() += c, terms.back());
    if (terms.size() != operands.size()) {
      throw InvalidInput(fmt::format("the equation {} has {} operands but {} are given",
                                     in_quotes(equation), terms.size(), operands.size()));
    }
    for (size_t index = 0; index < terms.size(); ++index) {
      std::string letters = terms[index];
      const size_t rank = graph_.shape(operands[index]).size();
      if (const size_t dots = letters.find("..."); dots != letters.npos) {
        if (letters.size() - 3 > rank) throw InvalidInput("the equation has too many letters");
        const size_t axes = rank - (letters.size() - 3);
        wildcard_axes = std::max(wildcard_axes, axes);
        letters.replace(dots, 3, wildcard(axes));
      }
      if (letters.size() != rank) {
        throw InvalidInput(fmt::format("the equation {} does not fit an operand of shape {}",
                                       in_quotes(equation),
                                       to_string(graph_.shape(operands[index]))));
      }
      if (std::set<char>(letters.begin(), letters.end()).size() != letters.size()) {
        scope_.fail(fmt::format("takes a diagonal ({})", in_quotes(equation)));
      }
      operands_.push_back({operands[index], letters});
    }
    if (arrow == equation.npos) {
      output_ = implied_output(wildcard(wildcard_axes));
      return;
    }
    output_ = equation.substr(arrow + 2);
    if (const size_t dots = output_.find("..."); dots != output_.npos) {
      output_.replace(dots, 3, wildcard(wildcard_axes));
    }
  }

  // Axes behind "..." get letters that no equation uses; the last axis is always the same one.
  static std::string wildcard(size_t axes) {
    std::string letters;
    for (size_t axis = axes; axis-- > 0;) letters += static_cast<char>('0' + axis);
    return letters;
  }

  // Without an arrow: letters that occur once, in alphabetical order.
  std::string implied_output(const std::string& wildcard_letters) const {
    std::map<char, int> counts;
    for (const Lettered& operand : operands_) {
      for (const char letter : operand.letters) ++counts[letter];
    }
    std::string result = wildcard_letters;
    for (const auto& [letter, count] : counts) {
      if (count == 1 && !contains(wildcard_letters, letter)) result += letter;
    }
    return result;
  }

  // Whether the output or an operand from `index` on has the letter.
  bool is_needed_from(char letter, size_t index) const {
    bool needed = contains(output_, letter);
    for (; index < operands_.size(); ++index) {
      needed = needed || contains(operands_[index].letters, letter);
    }
    return needed;
  }

  template <typename Keep>
  Lettered summed(const Lettered& x, const Keep& keep) {
    std::vector<int> axes;
    for (size_t axis = 0; axis < x.letters.size(); ++axis) {
      if (!keep(x.letters[axis])) axes.push_back(static_cast<int>(axis));
    }
    if (axes.empty()) return x;
    return {reduce(graph_, x.value, Reduction::kSum, axes, false, scope_.name()),
            those(x.letters, keep)};
  }

  Value in_order(const Lettered& x, const std::string& letters) {
    if (x.letters.size() != letters.size()) throw InvalidInput("the equation loses an axis");
    std::vector<int> order;
    for (const char letter : letters) {
      const size_t axis = x.letters.find(letter);
      if (axis == x.letters.npos) {
        throw InvalidInput(fmt::format("the equation's '{}' is in no operand", letter));
      }
      order.push_back(static_cast<int>(axis));
    }
    return permuted(scope_, x.value, order);
  }

  int64_t count(const Lettered& x, const std::string& letters) const {
    int64_t result = 1;
    for (const char letter : letters) result *= graph_.shape(x.value)[x.letters.find(letter)];
    return result;
  }

  // One axis per group of letters; up to two batch axes stay apart, so that heads remain an axis.
  template <typename Needed>
  Lettered product_of(const Lettered& a, const Lettered& b, const Needed& is_needed) {
    const auto in_b = [&](char letter) { return contains(b.letters, letter); };
    const std::string shared = those(a.letters, in_b);
    const std::string batch = those(shared, is_needed);
    const std::string inner = those(shared, [&](char letter) { return !is_needed(letter); });
    const std::string rows = those(a.letters, [&](char letter) { return !in_b(letter); });
    const std::string columns =
        those(b.letters, [&](char letter) { return !contains(a.letters, letter); });
    const auto grouped = [&](const Lettered& x, const std::string& second,
                             const std::string& third) {
      Shape shape;
      if (batch.size() <= 2) {
        for (const char letter : batch) shape.push_back(count(x, std::string(1, letter)));
      } else {
        shape.push_back(count(x, batch));
      }
      shape.push_back(count(x, second));
      shape.push_back(count(x, third));
      return reshaped(scope_, in_order(x, batch + second + third), shape);
    };
    const Value result = product(scope_, grouped(a, rows, inner), grouped(b, inner, columns));
    Shape shape;
    for (const char letter : batch) {
      const std::string one(1, letter);
      shape.push_back(std::max(count(a, one), count(b, one)));
    }
    for (const char letter : rows) shape.push_back(count(a, std::string(1, letter)));
    for (const char letter : columns) shape.push_back(count(b, std::string(1, letter)));
    return {reshaped(scope_, result, shape), batch + rows + columns};
  }

  NodeScope& scope_;
  GraphBuilder& graph_;
  std::vector<Lettered> operands_;
  std::string output_;
};

}  // namespace

Value einsum(NodeScope& scope, const std::string& equation, const std::vector<Value>& operands) {
  if (operands.empty()) throw InvalidInput("an Einstein sum needs operands");
  return Einsum(scope, equation, operands).result();
}

}  // namespace whyformer::onnx
