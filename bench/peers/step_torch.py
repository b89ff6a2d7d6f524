#!/usr/bin/python3
"""Times the training step of bench_step in PyTorch, from the same weights on the same batches.

    /usr/bin/python3 bench/peers/step_torch.py CHECKPOINT B THREADS STEPS

CHECKPOINT is what bench_step --export wrote; its type is the type trained in. Prints one JSON
object. For Debian 12's PyTorch 1.13, in its fastest form there: fused attention, AdamW and clipping
over lists of tensors.
"""

import json
import pathlib
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests/reference"))
from read_gpt2 import read_safetensors  # noqa: E402


def batch(step, B, T, V):
    """The rule of batch_of in bench/step.cpp."""
    n = torch.arange(step * B * (T + 1), (step + 1) * B * (T + 1))
    stream = ((n * 2654435761 % 2**32 >> 16) % V).view(B, T + 1)
    return stream[:, :-1].contiguous(), stream[:, 1:].contiguous()


class Attention(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H, self.c_attn, self.c_proj = H, nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x_BTD):
        B, T, D = x_BTD.shape
        q, k, v = (part.view(B, T, self.H, D // self.H).transpose(1, 2)
                   for part in self.c_attn(x_BTD).split(D, 2))
        o_BHTK, _ = F._scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(o_BHTK.transpose(1, 2).reshape(B, T, D))


class Mlp(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x_BTD):
        return self.c_proj(F.gelu(self.c_fc(x_BTD), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(D), Attention(D, H)
        self.ln_2, self.mlp = nn.LayerNorm(D), Mlp(D)

    def forward(self, x_BTD):
        x_BTD = x_BTD + self.attn(self.ln_1(x_BTD))
        return x_BTD + self.mlp(self.ln_2(x_BTD))


class Gpt2(nn.Module):
    def __init__(self, L, D, H, T, V):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, D), nn.Embedding(T, D)
        self.h = nn.ModuleList(Block(D, H) for _ in range(L))
        self.ln_f = nn.LayerNorm(D)

    def forward(self, tokens_BT, targets_BT):
        x_BTD = self.wte(tokens_BT) + self.wpe.weight[:tokens_BT.shape[1]]
        for block in self.h:
            x_BTD = block(x_BTD)
        logits_BTV = F.linear(self.ln_f(x_BTD), self.wte.weight)
        return F.cross_entropy(logits_BTV.flatten(0, 1), targets_BT.flatten())


def load(directory):
    config = json.loads((directory / "config.json").read_text())
    T, V = config["n_positions"], config["vocab_size"]
    tensors = {name.removeprefix("transformer."): torch.tensor(array)
               for name, array in read_safetensors(directory / "model.safetensors").items()}
    torch.set_default_dtype(tensors["wte.weight"].dtype)
    with torch.no_grad():
        model = Gpt2(config["n_layer"], config["n_embd"], config["n_head"], T, V)
        for name, p in model.named_parameters():
            is_linear = ".c_" in name and p.dim() == 2  # nn.Linear keeps [out, in]
            p.copy_(tensors[name].T if is_linear else tensors[name])
    return model, T, V


def adamw(model):
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() == 2], "weight_decay": 0.1},
              {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, foreach=True)


def clip(parameters, max_norm):
    gradients = [p.grad for p in parameters]
    norm = torch.stack(torch._foreach_norm(gradients)).norm()
    if norm > max_norm:
        torch._foreach_mul_(gradients, (max_norm / norm).item())


def main():
    directory, (B, threads, steps) = pathlib.Path(sys.argv[1]), map(int, sys.argv[2:5])
    torch.set_num_threads(threads)
    model, T, V = load(directory)
    parameters, optimizer = list(model.parameters()), adamw(model)
    losses, step_ms = [], []
    for step in range(2 + steps):
        tokens_BT, targets_BT = batch(step, B, T, V)
        begin = time.perf_counter()
        loss = model(tokens_BT, targets_BT)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        clip(parameters, 1.0)
        optimizer.step()
        losses.append(loss.item())
        step_ms.append(1e3 * (time.perf_counter() - begin))
    print(json.dumps({"program": f"PyTorch {torch.__version__}", "losses": losses[:3],
                      "step_ms": sorted(step_ms[2:])[steps // 2],
                      "resident_peak_bytes":
                          1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


if __name__ == "__main__":
    main()
