#!/usr/bin/python3
"""Runs bench_step and a peer in turns and compares their times, if they compute the same.

    /usr/bin/python3 bench/peers/compare.py BENCH_STEP CASE [--dtype f32] [--threads 2]
                                            [--rounds 5] [--steps 10] [--record FILE]

Both start from the same weights and train on the same batches; unless their first three losses
agree, no time is told. Both meet the same neighbours in a round, so its ratio is steadier than its
times. --record adds a record of kind "peer" to the file.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PEER = pathlib.Path(__file__).with_name("step_torch.py")
TOLERANCE = 1e-4


def run_ours(options, folder, *more):
    record = folder / "record.jsonl"
    subprocess.run([options.bench_step, options.case, "--dtype", options.dtype,
                    "--threads", str(options.threads), "--steps", str(options.steps),
                    "--record", record, *more], check=True, stdout=subprocess.DEVNULL)
    return json.loads(record.read_text().splitlines()[-1])


def run_peer(options, folder, B):
    environment = dict(os.environ)
    environment.pop("GOMP_SPINCOUNT", None)  # the driver's, for our own threads
    for library in ("OMP", "OPENBLAS"):  # each has threads of its own
        environment[f"{library}_NUM_THREADS"] = str(options.threads)
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text():
        # OpenBLAS knows fewer processors by name than it has kernels for.
        environment.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    command = [sys.executable, "-B", PEER, folder / "checkpoint", B, options.threads, options.steps]
    result = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                            env=environment)
    return json.loads(result.stdout)


def check_losses(ours, peer):
    for step, (a, b) in enumerate(zip(ours["losses"], peer["losses"], strict=True), start=1):
        if not abs(a - b) <= TOLERANCE * abs(a):
            sys.exit(f"step {step}: our loss is {a:.8f}, the peer's {b:.8f}: not the same work,"
                     " so no times")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench_step")
    parser.add_argument("case")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--record", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = parse()
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run_ours(options, folder, "--export", folder / "checkpoint")
        for _ in range(options.rounds):
            ours = run_ours(options, folder)
            peer = run_peer(options, folder, ours["B"])
            check_losses(ours, peer)
            rounds.append((ours, peer))

    ours_ms = statistics.median(ours["step_ms"] for ours, _ in rounds)
    peer_ms = statistics.median(peer["step_ms"] for _, peer in rounds)
    ratio = statistics.median(peer["step_ms"] / ours["step_ms"] for ours, peer in rounds)
    ours, peer = rounds[-1]
    print(f"{options.case} {options.dtype}, threads {options.threads}, {options.rounds} rounds;"
          f" the losses agree\n  Shardlings        {ours_ms:9.1f} ms a step\n"
          f"  {peer['program']:18}{peer_ms:9.1f} ms a step, {ratio:.2f} times ours")
    if options.record:
        begin = ("processor", "cores", "compiler", "date", "case", "dtype", "threads")
        record = {"kind": "peer"} | {name: ours[name] for name in begin} | {
            "peer": peer["program"], "rounds": options.rounds, "step_ms": ours_ms,
            "peer_step_ms": peer_ms, "ratio": ratio,
            "resident_peak_bytes": ours["resident_peak_bytes"],
            "peer_resident_peak_bytes": peer["resident_peak_bytes"]}
        with options.record.open("a") as file:
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
