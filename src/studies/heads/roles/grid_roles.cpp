// Roles of heads over the patches of a picture.
#include "studies/heads/roles/role.h"

namespace whyformer {
namespace {

constexpr const char* kGridPaper = "after Cordonnier et al., ICLR 2020";

bool on_grid(const UnitFacts& facts) { return facts.has_grid(); }

template <int64_t kDown, int64_t kRight>
bool is_neighbour(const UnitFacts& facts, int64_t query, int64_t key) {
  const auto &from = facts.places[query], &to = facts.places[key];
  return from && to && to->row == from->row + kDown && to->column == from->column + kRight;
}

}  // namespace

const RoleEntry kLeftPatch{
    {"left", "left", "the patch to the left", kGridPaper}, &on_grid, &is_neighbour<0, -1>};
const RoleEntry kRightPatch{
    {"right", "right", "the patch to the right", kGridPaper}, &on_grid, &is_neighbour<0, 1>};
const RoleEntry kPatchAbove{
    {"above", "above", "the patch above", kGridPaper}, &on_grid, &is_neighbour<-1, 0>};
const RoleEntry kPatchBelow{
    {"below", "below", "the patch below", kGridPaper}, &on_grid, &is_neighbour<1, 0>};
const RoleEntry kSameRow{{"same-row", "row", "another patch of the same row", kGridPaper},
                         &on_grid,
                         [](const UnitFacts& facts, int64_t query, int64_t key) {
                           const auto &from = facts.places[query], &to = facts.places[key];
                           return from && to && key != query && to->row == from->row;
                         }};
const RoleEntry kSameColumn{
    {"same-column", "column", "another patch of the same column", kGridPaper},
    &on_grid,
    [](const UnitFacts& facts, int64_t query, int64_t key) {
      const auto &from = facts.places[query], &to = facts.places[key];
      return from && to && key != query && to->column == from->column;
    }};

}  // namespace whyformer
