// The tests that stand behind a concept's score.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace whyformer {

// The regularised incomplete beta function I_x(a, b), a and b above 0, x in [0, 1].
double incomplete_beta(double x, double a, double b);

double mean_of(std::span<const double> sample);
double deviation_of(std::span<const double> sample);  // with n − 1; 0 for fewer than two

struct TTest {
  double t = 0;
  double freedom = 0;  // degrees of
  double p = 1;        // two-sided
};

// Student's test that two samples have one mean, variances pooled. Nothing where both variances are
// 0 or a sample has fewer than two numbers: the test is undefined there.
std::optional<TTest> t_test(std::span<const double> a, std::span<const double> b);

// The chance of at least `hits` of `tries` that each succeed with probability one half.
double coin_tail(int64_t hits, int64_t tries);

// The chance of at least `hits` of `tries` that each succeed with this probability.
double binomial_tail(int64_t hits, int64_t tries, double probability);

// Where the probability lies behind so many hits (Clopper & Pearson, 1934).
struct BinomialInterval {
  double low = 0;
  double high = 1;
};
BinomialInterval binomial_interval(int64_t hits, int64_t tries, double confidence);

// (1 + how many draws are at least as far out) / (1 + draws): never 0, and right for any statistic.
double permutation_p(double observed, std::span<const double> drawn);

// p-values for a family of tests, as many and in the same order.
std::vector<double> bonferroni(std::span<const double> p);
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace whyformer
