#!/usr/bin/python3
"""Reads a GPT-2 checkpoint directory and prints its logits, for the C++ model to agree with.

For developers; a learner never needs Python. With Debian's python3-torch:

    /usr/bin/python3 tests/reference/read_gpt2.py DIRECTORY TOKEN [TOKEN ...]

prints one JSON object: the type the file holds, and logits[t][v] of the token after tokens[0..t],
computed in f64. The file is read from the format's description alone: 8 bytes of header length, a
JSON header, the data; no library that knows safetensors or GPT-2 takes part.
"""

import json
import pathlib
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def read_safetensors(path):
    """{name: array}; every byte of the data belongs to one tensor."""
    content = path.read_bytes()
    (header_bytes,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + header_bytes])
    header.pop("__metadata__", None)
    data = content[8 + header_bytes:]
    covered = 0
    tensors = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert begin == covered, f"{name}: begins at {begin}, expected {covered}"
        covered = end
        array = np.frombuffer(data[begin:end], dtype=TYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    assert covered == len(data), f"{len(data)} bytes of data, the tensors take {covered}"
    return tensors


def logits(config, tensors, tokens_T):
    L, D, H = config["n_layer"], config["n_embd"], config["n_head"]
    T = len(tokens_T)
    assert 1 <= T <= config["n_positions"], f"{T} tokens, context {config['n_positions']}"
    p = {name.removeprefix("transformer."): torch.tensor(array.astype(np.float64))
         for name, array in tensors.items()}

    def norm(x, name):
        return F.layer_norm(x, (D,), p[f"{name}.weight"], p[f"{name}.bias"],
                            config["layer_norm_epsilon"])

    def linear(x, name):
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    assert config["activation_function"] == "gelu_new"
    future_TT = torch.ones(T, T, dtype=torch.bool).triu(1)
    x_TD = p["wte.weight"][tokens_T] + p["wpe.weight"][:T]
    for block in (f"h.{layer}" for layer in range(L)):
        qkv = linear(norm(x_TD, f"{block}.ln_1"), f"{block}.attn.c_attn")
        q_HTK, k_HTK, v_HTK = (part.view(T, H, D // H).transpose(0, 1)
                               for part in qkv.split(D, dim=-1))
        scores_HTT = q_HTK @ k_HTK.transpose(1, 2) / (D // H) ** 0.5
        mixed_HTK = scores_HTT.masked_fill(future_TT, -torch.inf).softmax(-1) @ v_HTK
        x_TD = x_TD + linear(mixed_HTK.transpose(0, 1).reshape(T, D), f"{block}.attn.c_proj")
        up_TF = linear(norm(x_TD, f"{block}.ln_2"), f"{block}.mlp.c_fc")
        x_TD = x_TD + linear(F.gelu(up_TF, approximate="tanh"), f"{block}.mlp.c_proj")
    return norm(x_TD, "ln_f") @ p["wte.weight"].T


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: read_gpt2.py DIRECTORY TOKEN [TOKEN ...]")
    directory = pathlib.Path(sys.argv[1])
    tokens_T = [int(token) for token in sys.argv[2:]]
    config = json.loads((directory / "config.json").read_text())
    tensors = read_safetensors(directory / "model.safetensors")
    table = tensors.get("transformer.wte.weight", tensors.get("wte.weight"))
    result = {"type": str(table.dtype), "tokens": tokens_T,
              "logits": logits(config, tensors, tokens_T).tolist()}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
