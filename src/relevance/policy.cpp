#include "relevance/policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr Stabiliser kUnsigned{1e-9, false};  // what the code of Chefer et al. adds
constexpr Stabiliser kSignAware{1e-6, true};
constexpr Stabiliser kNone{0, true};

const Rule kIdentity{.kind = RuleKind::kIdentity};
const Rule kStop{.kind = RuleKind::kStop};
const Rule kGradient{.kind = RuleKind::kGradient, .stabiliser = kNone};

Rule proportional(Stabiliser stabiliser, bool bias = false) {
  return {.stabiliser = stabiliser, .bias = bias};
}

Rule product(Stabiliser stabiliser, double left, double right) {
  return {.stabiliser = stabiliser, .shares = {left, right}};
}

using Entries = std::vector<PolicyEntry>;

// Rules of Chefer et al., CVPR 2021, around their own rule for Linear and for sums.
Entries chefer_entries(const Rule& linear, bool rescale) {
  return {{.kind = "Linear", .rule = linear},
          {.kind = "Conv", .rule = {.kind = RuleKind::kBox, .stabiliser = kUnsigned}},
          {.kind = "Add", .rule = {.stabiliser = kUnsigned, .rescale = rescale}},
          {.kind = "Sub", .rule = {.stabiliser = kUnsigned, .rescale = rescale}},
          {.kind = "MatMul", .rule = product(kUnsigned, 0.5, 0.5)},
          {.kind = "Mul", .rule = product(kUnsigned, 0.5, 0.5)},
          {.kind = "Div", .rule = proportional(kUnsigned)},
          {.kind = "Mean", .rule = proportional(kUnsigned)},
          {.kind = "Reduce*", .rule = proportional(kUnsigned)},
          {.rule = kIdentity}};
}

// Everything but Linear in AttnLRP (Achtibat et al., 2024), without a stabiliser.
Entries attn_lrp_entries(const Rule& linear, const Rule& softmax, const Rule& matmul) {
  return {
      {.kind = "Linear", .rule = linear},         {.kind = "Conv", .rule = linear},
      {.kind = "MatMul", .rule = matmul},         {.kind = "Mul", .rule = product(kNone, 0.5, 0.5)},
      {.kind = "Softmax", .rule = softmax},       {.kind = "Activation", .rule = kIdentity},
      {.kind = "L2Normalise", .rule = kIdentity}, {.rule = proportional(kNone)}};
}

Policy chefer() {
  return {"chefer", Policy::Seed::kOne,
          chefer_entries({.kind = RuleKind::kAlphaBeta, .stabiliser = kUnsigned}, true)};
}

Policy lrp_orig() {
  return {"lrp-orig", Policy::Seed::kOne,
          chefer_entries({.kind = RuleKind::kPositiveBySign, .stabiliser = kUnsigned}, false)};
}

Policy alpha_beta() {
  Policy policy{
      "alpha-beta", Policy::Seed::kOne,
      chefer_entries({.kind = RuleKind::kAlphaBeta, .stabiliser = kUnsigned, .alpha = 2, .beta = 1},
                     false)};
  return policy;
}

Policy epsilon() {
  return {"epsilon",
          Policy::Seed::kOutput,
          {{.kind = "Linear", .rule = proportional(kSignAware, true)},
           {.kind = "Conv", .rule = proportional(kSignAware, true)},
           {.kind = "Add", .rule = proportional(kSignAware)},
           {.kind = "Sub", .rule = proportional(kSignAware)},
           {.kind = "MatMul", .rule = product(kSignAware, 0.5, 0.5)},
           {.kind = "Mul", .rule = product(kSignAware, 0.5, 0.5)},
           {.kind = "Div", .rule = proportional(kSignAware)},
           {.kind = "Mean", .rule = proportional(kSignAware)},
           {.kind = "Reduce*", .rule = proportional(kSignAware)},
           {.rule = kIdentity}}};
}

Policy attn_lrp() {
  return {"attn-lrp", Policy::Seed::kOutput,
          attn_lrp_entries(proportional(kNone, true), kGradient, product(kNone, 0.5, 0.5))};
}

Policy cp_lrp() {
  return {"cp-lrp", Policy::Seed::kOutput,
          attn_lrp_entries(proportional(kNone, true), kStop, product(kNone, 0, 1))};
}

// With the slope of element-wise functions instead of f(x)/x.
Policy cp_lrp_derivative() {
  Policy policy = cp_lrp();
  policy.name = "cp-lrp-derivative";
  policy.entries.insert(policy.entries.begin(), {.kind = "Activation", .rule = kGradient});
  return policy;
}

Policy gamma() {
  const Rule linear{
      .kind = RuleKind::kGamma, .stabiliser = kSignAware, .bias = true, .gamma = 0.25};
  return {"gamma", Policy::Seed::kOutput,
          attn_lrp_entries(linear, kGradient, product(kNone, 0.5, 0.5))};
}

constexpr std::array kPolicies{chefer, lrp_orig, epsilon, alpha_beta,
                               gamma,  attn_lrp, cp_lrp,  cp_lrp_derivative};

}  // namespace

// After a mismatch the last star takes one character more.
bool fits_pattern(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, after_star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (after_star != std::string_view::npos) {
      p = after_star;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string_view name_of(RuleKind kind) {
  switch (kind) {
    case RuleKind::kIdentity:
      return "identity";
    case RuleKind::kStop:
      return "stop";
    case RuleKind::kProportional:
      return "proportional";
    case RuleKind::kAlphaBeta:
      return "alpha-beta";
    case RuleKind::kPositiveBySign:
      return "positive-by-sign";
    case RuleKind::kGamma:
      return "gamma";
    case RuleKind::kBox:
      return "box";
    case RuleKind::kGradient:
      return "gradient";
  }
  return "";
}

size_t Policy::entry_for(const Node& node) const {
  size_t at = 0;
  while (at < entries.size() && !(fits_pattern(entries[at].kind, node.op->kind()) &&
                                  fits_pattern(entries[at].name, node.name))) {
    ++at;
  }
  return at;
}

const Rule& Policy::rule_for(const Node& node) const {
  if (const size_t at = entry_for(node); at < entries.size()) return entries[at].rule;
  throw InvalidInput(
      fmt::format("the policy '{}' has no rule for {} '{}'; end it with a rule for "
                  "every operator (\"operator\": \"*\")",
                  name, node.op->kind(), node.name));
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const auto make : kPolicies) names.push_back(make().name);
  return names;
}

Policy policy_named(std::string_view name) {
  for (const auto make : kPolicies) {
    if (Policy policy = make(); policy.name == name) return policy;
  }
  throw InvalidInput(
      fmt::format("there is no policy '{}'; known are {}, or a file that ends in .json",
                  name.substr(0, 60), fmt::join(policy_names(), ", ")));
}

}  // namespace whyformer
