#!/usr/bin/env bash
# What a machine with an NVIDIA GPU can show of the course, in ten minutes: builds with CUDA, runs
# the tests, checks the kernels' memory accesses, measures steps of lesson 01, and writes
#
#   bench/results/<gpu>.gpu.json     an array: what was run where, then a record for each step
#
#   bench/gpu.sh [FOLDER]            FOLDER: where to write instead
#
# A part that fails or runs out of time is named in the file; nothing is written when building
# fails.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
results=${1:-$root/bench/results}
build=$root/build/gpu
export PATH=$PATH:/usr/local/cuda/bin

stop() {  # stop <exit code> <message>
  echo "gpu.sh: $2" >&2
  exit "$1"
}
gpu_says() {  # gpu_says <field>
  nvidia-smi --query-gpu="$1" --format=csv,noheader --id=0
}
# "passes", or how it ended; a test that is skipped does not pass. What it prints goes to a log,
# whose end is shown when it fails.
outcome() {  # outcome <log> <seconds> <command>...
  local log=$build/$1.txt seconds=$2 status=0
  shift 2
  timeout "$seconds" "$@" >"$log" 2>&1 || status=$?
  case $status in
    0) if grep -q '(Skipped)' "$log"; then echo skipped; else echo passes; fi ;;
    124) echo "out of time after $seconds s" ;;
    *) echo "fails ($status)" && tail -n 30 "$log" >&2 ;;
  esac
}

type nvcc nvidia-smi >/dev/null 2>&1 ||
  stop 69 "needs a CUDA toolkit (nvcc) and a driver (nvidia-smi)"
gpu=$(gpu_says name) || stop 69 "nvidia-smi shows no GPU"
toolkit=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')

echo "building for $gpu, CUDA $toolkit"
mkdir -p "$build" "$results"
cmake -S "$root" -B "$build" -G Ninja -DSHARDLINGS_CUDA=ON >"$build/configure.txt" ||
  stop 69 "configuring failed: $build/configure.txt"
cmake --build "$build" --target test_device test_tensor test_cuda test_cuda_program \
  test_lesson_01_devices bench_step \
  >"$build/build.txt" || stop 70 "building failed: $build/build.txt"

echo "testing"
tests=$(outcome tests 180 ctest --test-dir "$build" --output-on-failure \
  -R '^(device|tensor|cuda|cuda_program|lesson_01_devices)$')
memcheck="not installed"
if type compute-sanitizer >/dev/null 2>&1; then
  echo "checking memory accesses"
  memcheck=$(outcome memcheck 150 compute-sanitizer --tool memcheck --error-exitcode 1 \
    "$build/tests/common/tensor/test_tensor" "linear multiplies*,column_sum adds*,\
layer_norm: backward*,scatter_add*,cross_entropy: loss*,adamw: three*,attention: backward*")
fi
echo "tests: $tests; compute-sanitizer: $memcheck"

steps=$build/steps.jsonl
rm -f "$steps"
for case in micro gpt2 gpt2-1024; do
  for backend in cuda cuda-tf32; do
    timeout 40 "$build/bin/bench_step" $case --backend $backend --record "$steps" ||
      echo "gpu.sh: $case on $backend was not measured" >&2
  done
done

name=$(tr -cs '[:alnum:]' - <<<"${gpu,,}")
file=$results/${name%-}.gpu.json
{
  printf '[{"kind": "verified", "processor": "%s", "cores": %d, ' "$gpu" "$(nproc)"
  printf '"compiler": "driver %s, CUDA %s", ' "$(gpu_says driver_version)" "$toolkit"
  printf '"memory": "%s", "date": "%s", ' "$(gpu_says memory.total)" "$(date +%F)"
  printf '"tests": "%s", "memcheck": "%s"}' "$tests" "$memcheck"
  [[ -s $steps ]] && sed 's/^/,\n/' "$steps"
  echo ']'
} >"$file"
echo "written: $file"
[[ $tests == passes && $memcheck != fails* ]] || exit 1
