// Concept tests on a ViT-B/16 with random weights: the whole beside the bare passes it needs, and
// the fits. benchmarks/tcav (a script) runs this beside Captum.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"
#include "graph/walk_back.h"
#include "random_vit.h"
#include "studies/concepts/concept_study.h"
#include "studies/concepts/layer_tests.h"

namespace whyformer {
namespace {

constexpr int kSets = 3;  // of concepts, and of random pictures

struct TcavSizes {
  int64_t pictures = 120;  // of each set
  int64_t targets = 60;
  int layer = 10;
  int counterparts = 50;
  int permutations = 1000;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// ExampleRows of random numbers where activations would be.
std::vector<float> random_rows(int64_t rows, int64_t width, int64_t instance) {
  std::vector<float> numbers(rows * width);
  parallel_for(rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const CounterRandom random(1, "rows", instance + row);
      for (int64_t i = 0; i < width; ++i) {
        numbers[row * width + i] = static_cast<float>(random.uniform(i) - 0.5);
      }
    }
  });
  return numbers;
}

// Fits and tests of activations that are there: Gram matrix, every concept with its counterparts,
// every pair.
nlohmann::json measure_fits(const TcavSizes& sizes) {
  constexpr int64_t kWidth = 197 * 768;
  const int64_t all = 2 * kSets * sizes.pictures;
  const std::vector<float> x = random_rows(all, kWidth, 0),
                           g = random_rows(sizes.targets, kWidth, all);
  LayerTestSets sets;
  for (int i = 0; i < 2 * kSets; ++i) {
    ExampleRows rows(sizes.pictures);
    std::iota(rows.begin(), rows.end(), i * sizes.pictures);
    (i < kSets ? sets.concepts : sets.random).push_back(rows);
  }
  const double start = now(), start_processor = processor_seconds();
  const InnerProducts products =
      inner_products({x.data(), all, kWidth}, {g.data(), sizes.targets, kWidth});
  const double gram = now() - start;
  int64_t fits = 0;
  ConceptTestSettings settings{.counterparts = sizes.counterparts,
                               .permutations = sizes.permutations};
  settings.jobs.done = [&](int64_t some) { fits += some; };
  test_layer(products, {{0, sizes.targets}}, sets, settings);
  return {{"pictures", sizes.pictures},
          {"gram_seconds", gram},
          {"fit_seconds", now() - start},
          {"fit_processor_seconds", processor_seconds() - start_processor},
          {"fits", fits},
          {"counterpart_fits", kSets * sizes.counterparts + kSets * (kSets - 1) / 2}};
}

// Some pictures again and again, as the passes need them; all pixels drawn before.
struct Pictures {
  std::vector<Tensor> pixels;

  Pictures() {
    for (int64_t i = 0; i < 64; ++i) pixels.push_back(random_picture(i));
  }
  // Differs between examples, or Gram matrices would repeat.
  Tensor load(int64_t example) const {
    Tensor picture = pixels[example % 64].copy();
    float* data = picture.mutable_data<float>();
    std::rotate(data, data + 1 + example / 64 * 4097 % picture.size(), data + picture.size());
    return picture;
  }
};

// The same batches as the study's, and nothing but run and walk_back on pixels that are there.
double bare_seconds(RandomVit& vit, const Pictures& pictures, const TcavSizes& sizes) {
  const PixelConceptInputs inputs(
      1 << 20, [&](int64_t count, LastBlock last) { return vit.build(count, last); },
      [&](int64_t example) { return pictures.pixels[example % 64]; });
  constexpr int64_t kBatch = 1024 / 197;
  double seconds = 0;
  const auto measure = [&](int64_t count, auto pass) {
    for (int64_t first = 0; first < count; first += kBatch) {
      std::vector<int64_t> batch(std::min(kBatch, count - first));
      std::iota(batch.begin(), batch.end(), first);
      const BlockGraph graph =
          inputs.graph(0, static_cast<int64_t>(batch.size()), LastBlock::kReadRows);
      const Feeds feeds = inputs.feeds(graph, batch);
      const double start = now();
      pass(graph, feeds);
      seconds += now() - start;
    }
  };
  measure(2 * kSets * sizes.pictures, [&](const BlockGraph& graph, const Feeds& feeds) {
    run(*graph.graph, feeds, {.outputs = {graph.blocks[sizes.layer]}});
  });
  measure(sizes.targets, [&](const BlockGraph& graph, const Feeds& feeds) {
    const Value block = graph.blocks[sizes.layer];
    Feeds from_block = feeds;
    from_block[block] = run(*graph.graph, feeds, {.outputs = {block}})[block];
    const Pass pass =
        run(*graph.graph, from_block, {.keep = Keep::kGradients, .outputs = {graph.output}});
    Tensor seed = Tensor::zeros(graph.graph->shape(graph.output));
    seed.slice(1, 0, 1).fill(1);
    walk_back(*graph.graph, pass, graph.output, seed, gradient_rule(), {block});
  });
  return seconds;
}

nlohmann::json measure(const TcavSizes& sizes) {
  RandomVit vit;
  const Pictures pictures;
  const int64_t all = 2 * kSets * sizes.pictures + sizes.targets;
  const PixelConceptInputs inputs(
      all, [&](int64_t count, LastBlock last) { return vit.build(count, last); },
      [&](int64_t example) { return pictures.load(example); });
  ConceptExamples examples;
  for (int i = 0; i < 2 * kSets; ++i) {
    (i < kSets ? examples.concepts : examples.random)
        .push_back({fmt::format("set {}", i), i * sizes.pictures, sizes.pictures});
  }
  examples.targets.push_back({{"class 0", 2 * kSets * sizes.pictures, sizes.targets}, 0});
  vit.build(1, LastBlock::kReadRows);  // draws the weights
  const double start = now(), start_processor = processor_seconds();
  const ConceptReport report = study_concepts(inputs, examples,
                                              {.layers = {sizes.layer},
                                               .rows = TokenRows::kAll,
                                               .counterparts = sizes.counterparts,
                                               .permutations = sizes.permutations});
  const double whole = now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double run_processor = processor_seconds() - start_processor,
               before_bare = processor_seconds();
  const double bare = bare_seconds(vit, pictures, sizes);
  return {{"pictures", sizes.pictures},
          {"targets", sizes.targets},
          {"whole_seconds", whole},
          {"run_seconds", report.run_seconds},
          {"fit_seconds", report.fit_seconds},
          {"fits", report.fits},
          {"run_processor_seconds", run_processor},
          {"bare_processor_seconds", processor_seconds() - before_bare},
          {"bare_seconds", bare},
          {"whole_by_bare", whole / bare},
          {"memory_mb", usage.ru_maxrss / 1024}};
}

}  // namespace
}  // namespace whyformer

int main(int argc, char** argv) {
  CLI::App program("Concept tests of a ViT-B/16 with random weights: 3 concepts, 3 random sets");
  whyformer::TcavSizes sizes;
  program.add_option("--pictures", sizes.pictures, "of each set")
      ->check(CLI::Range(6, 1000))
      ->capture_default_str();
  program.add_option("--targets", sizes.targets)->check(CLI::Range(1, 1000))->capture_default_str();
  program.add_option("--layer", sizes.layer)->check(CLI::Range(0, 10))->capture_default_str();
  program.add_option("--counterparts", sizes.counterparts)
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  program.add_option("--permutations", sizes.permutations)
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  bool fits_only = false;
  program.add_flag("--fits-only", fits_only, "random activations instead of runs");
  CLI11_PARSE(program, argc, argv);
  fmt::print("{}\n",
             (fits_only ? whyformer::measure_fits(sizes) : whyformer::measure(sizes)).dump());
  return 0;
}
