// Runs a fuzz target without libFuzzer: on each seed, then on a fixed series of mutations of them.
//   fuzz_x [--keep FILE] [--mutations FIRST COUNT] SEEDS...
// SEEDS are files and folders. With --keep, each input is written to FILE before it runs, so that
// after a crash FILE holds the culprit. With --mutations, another part of the series runs, however
// long it takes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Targets may bring mutations that know their format.
extern "C" [[gnu::weak]] size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most,
                                                        unsigned seed);

namespace {

namespace fs = std::filesystem;

constexpr int kMutations = 20'000;
constexpr auto kTimeLimit = std::chrono::seconds(2);
constexpr size_t kLargestInput = 1 << 16;

using Random = std::mt19937_64;
using Seeds = std::vector<std::string>;

size_t below(Random& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Seeds read_seeds(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());  // the order of a folder differs between machines
  Seeds seeds;
  for (const fs::path& file : files) seeds.push_back(read_whole(file));
  return seeds;
}

// Lengths, offsets and counts sit in fields of 1 to 8 bytes; the ends of their ranges break most.
void edit_length_field(std::string& input, Random& random) {
  const size_t width = size_t{1} << below(random, 4);
  if (input.size() < width) return;
  const uint64_t numbers[] = {0,
                              1,
                              0x7f,
                              0xff,
                              0xffff,
                              0x7fffffff,
                              0xffffffff,
                              INT64_MAX,
                              UINT64_MAX,
                              uint64_t{1} << 62,
                              input.size(),
                              input.size() - 1,
                              input.size() + 1,
                              input.size() / 2};
  uint64_t number = numbers[below(random, std::size(numbers))];
  char* field = input.data() + below(random, input.size() - width + 1);
  if (below(random, 2) == 0) {
    std::memcpy(&number, field, width);
    number += below(random, 9) - 4;
  }
  std::memcpy(field, &number, width);
}

// The beginning of one and the end of another.
void splice(std::string& input, const std::string& other, Random& random) {
  input = input.substr(0, below(random, input.size() + 1)) +
          other.substr(below(random, other.size() + 1));
}

void mutate(std::string& input, const Seeds& seeds, Random& random) {
  const size_t place = below(random, input.size());
  const size_t length = 1 + below(random, 16);
  switch (below(random, 8)) {
    case 0:
    case 1:
      if (!input.empty()) input[place] ^= static_cast<char>(1 << below(random, 8));
      break;
    case 2:
      if (!input.empty()) input[place] = static_cast<char>(random());
      break;
    case 3:
      edit_length_field(input, random);
      break;
    case 4:
      input.resize(place);
      break;
    case 5:
      splice(input, seeds[below(random, seeds.size())], random);
      break;
    case 6:
      input.erase(place, length);
      break;
    case 7:
      input.insert(place, input.substr(below(random, input.size()), length));
      break;
  }
}

void mutate_by_format(std::string& input, Random& random) {
  const size_t size = std::min(input.size(), kLargestInput);
  input.resize(kLargestInput);
  auto* data = reinterpret_cast<uint8_t*>(input.data());
  input.resize(LLVMFuzzerCustomMutator(data, size, input.size(), static_cast<unsigned>(random())));
}

// Depends on `number` alone, so that a failure comes again.
std::string mutation(const Seeds& seeds, int number) {
  Random random(static_cast<uint64_t>(number));
  std::string input = seeds[below(random, seeds.size())];
  if (LLVMFuzzerCustomMutator != nullptr && below(random, 8) != 0) {
    mutate_by_format(input, random);
    return input;
  }
  for (size_t i = 1 + below(random, 4); i > 0; --i) mutate(input, seeds, random);
  input.resize(std::min(input.size(), kLargestInput));
  return input;
}

void run_one(const std::string& input, const fs::path& keep) {
  if (!keep.empty()) std::ofstream(keep, std::ios::binary) << input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

struct DriverOptions {
  fs::path keep;
  int first = 0;
  int count = kMutations;
  std::chrono::steady_clock::duration time_limit = kTimeLimit;
  std::vector<fs::path> seeds;

  explicit DriverOptions(std::vector<std::string> arguments) {
    const auto take = [&] {
      if (arguments.empty()) throw std::runtime_error("an argument is missing");
      std::string argument = arguments.front();
      arguments.erase(arguments.begin());
      return argument;
    };
    while (!arguments.empty()) {
      const std::string argument = take();
      if (argument == "--keep") {
        keep = take();
      } else if (argument == "--mutations") {
        first = std::stoi(take());
        count = std::stoi(take());
        time_limit = std::chrono::hours(24);
      } else {
        seeds.push_back(argument);
      }
    }
  }
};

int run_all(const Seeds& seeds, const DriverOptions& options) {
  for (const std::string& seed : seeds) run_one(seed, options.keep);
  const auto end = std::chrono::steady_clock::now() + options.time_limit;
  int done = 0;
  while (done < options.count && std::chrono::steady_clock::now() < end) {
    run_one(mutation(seeds, options.first + done), options.keep);
    ++done;
  }
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const DriverOptions options({argv + 1, argv + argc});
    const Seeds seeds = read_seeds(options.seeds);
    if (seeds.empty()) throw std::runtime_error("no seeds; name files or folders of them");
    const int done = run_all(seeds, options);
    std::cout << seeds.size() << " seeds and " << done << " mutations ran\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "failed: " << error.what() << "; run again with --keep FILE to see the input\n";
    return 1;
  }
}
