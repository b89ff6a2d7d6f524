#!/usr/bin/python3
"""Writes parity.json: what PyTorch computes for one tiny GPT-2, for the C++ model to agree with.

For developers; a learner never needs Python. Regenerate with Debian's python3-torch, no options:

    /usr/bin/python3 tests/reference/parity.py

Nothing is random. Before writing, every loss, every entry of every gradient and every trained
weight is compared with a second model in numpy that has neither autograd nor torch's optimizers,
and with torch's own f32, which shows that the f32 tolerance of the tests can be met.
"""

import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

L, D, H, T, V, B = 2, 12, 3, 7, 11, 3
K = D // H
STEPS = 3
EPSILON_NORM = 1e-5
SGD = {"learning_rate": 0.1}
ADAMW = {"learning_rate": 1e-2, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8,
         "weight_decay": 0.1, "max_norm": 4.0}
# This multiplier leaves no gradient entry so near zero that f32 rounding could turn its AdamW step.
PRIME, MULTIPLIER = 4019, 1287


# --- The inputs: pure functions of indices, in integers, so that any language repeats them exactly.

def mix(n):
    return MULTIPLIER * n**3 % PRIME


def shapes():
    """Every parameter in model order: {name: shape}; a matrix is [in, out]."""
    def norm(name):
        return {f"{name}.weight": (D,), f"{name}.bias": (D,)}

    def linear(name, n_in, n_out):
        return {f"{name}.weight": (n_in, n_out), f"{name}.bias": (n_out,)}

    result = {"wte.weight": (V, D), "wpe.weight": (T, D)}
    for layer in range(L):
        result |= norm(f"h.{layer}.ln_1")
        result |= linear(f"h.{layer}.attn.c_attn", D, 3 * D)
        result |= linear(f"h.{layer}.attn.c_proj", D, D)
        result |= norm(f"h.{layer}.ln_2")
        result |= linear(f"h.{layer}.mlp.c_fc", D, 4 * D)
        result |= linear(f"h.{layer}.mlp.c_proj", 4 * D, D)
    return result | norm("ln_f")


SHAPES = shapes()
P = sum(int(np.prod(shape)) for shape in SHAPES.values())


def split(flat_P):
    """Views of the flat parameter vector by name."""
    ends = np.cumsum([int(np.prod(shape)) for shape in SHAPES.values()])
    parts = np.split(flat_P, ends[:-1])
    return {name: part.reshape(SHAPES[name]) for name, part in zip(SHAPES, parts)}


def initial_weights():
    flat_P = np.array([(2 * mix(n) - PRIME) / 8192 for n in range(P)])
    for name, view in split(flat_P).items():
        if view.ndim == 1 and name.endswith(".weight"):  # a LayerNorm's
            view += 1.0
    return flat_P


def batch(step):
    """step counts from 1. A target is the token that follows in the sequence's T + 1 tokens."""
    stream = np.array([[mix(((step - 1) * B + b) * (T + 1) + t) % V for t in range(T + 1)]
                       for b in range(B)])
    weights = np.array([[int((t + step + 3 * b) % T >= (step + 2 * b) % T) for t in range(T)]
                        for b in range(B)])
    return stream[:, :-1], stream[:, 1:], weights


BATCHES = [batch(step) for step in range(1, STEPS + 1)]


# --- The reference: torch.

def logits_torch(p, tokens_BT):
    def norm(x, name):
        return F.layer_norm(x, (D,), p[f"{name}.weight"], p[f"{name}.bias"], EPSILON_NORM)

    def linear(x, name):
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    def heads(x_BTD):
        return x_BTD.view(B, T, H, K).transpose(1, 2)

    future_TT = torch.ones(T, T, dtype=torch.bool).triu(1)
    x_BTD = p["wte.weight"][tokens_BT] + p["wpe.weight"]
    for layer in range(L):
        qkv = linear(norm(x_BTD, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn")
        q_BHTK, k_BHTK, v_BHTK = (heads(part) for part in qkv.split(D, dim=-1))
        scores_BHTT = (q_BHTK @ k_BHTK.transpose(2, 3) / K**0.5).masked_fill(future_TT, -torch.inf)
        mixed_BTD = (scores_BHTT.softmax(-1) @ v_BHTK).transpose(1, 2).reshape(B, T, D)
        x_BTD = x_BTD + linear(mixed_BTD, f"h.{layer}.attn.c_proj")
        up_BTF = linear(norm(x_BTD, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc")
        up_BTF = F.gelu(up_BTF, approximate="tanh")
        x_BTD = x_BTD + linear(up_BTF, f"h.{layer}.mlp.c_proj")
    return norm(x_BTD, "ln_f") @ p["wte.weight"].T


def optimizer_torch(p, rule):
    if "weight_decay" not in rule:
        return torch.optim.SGD(p.values(), lr=rule["learning_rate"])
    groups = [{"params": [w for w in p.values() if w.dim() == 2],
               "weight_decay": rule["weight_decay"]},
              {"params": [w for w in p.values() if w.dim() == 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rule["learning_rate"],
                             betas=(rule["beta1"], rule["beta2"]), eps=rule["epsilon"])


def train_torch(rule, dtype):
    p = {name: torch.tensor(value, dtype=dtype, requires_grad=True)
         for name, value in split(initial_weights()).items()}
    optimizer = optimizer_torch(p, rule)
    run = {"losses": [], "gradient_norms": [], "gradients": []}
    for tokens_BT, targets_BT, weights_BT in BATCHES:
        optimizer.zero_grad()
        logits_BTV = logits_torch(p, torch.tensor(tokens_BT))
        nll = F.cross_entropy(logits_BTV.flatten(0, 1), torch.tensor(targets_BT).flatten(),
                              reduction="none")
        weights = torch.tensor(weights_BT, dtype=dtype).flatten()
        loss = (weights * nll).sum() / weights.sum()
        loss.backward()
        gradient_P = torch.cat([w.grad.flatten() for w in p.values()])
        norm = gradient_P.square().sum().sqrt().item()
        run.setdefault("logits_step_1", logits_BTV.detach().double().numpy().flatten())
        run["gradients"].append(gradient_P.double().numpy())
        run["losses"].append(loss.item())
        run["gradient_norms"].append(norm)
        if norm > rule.get("max_norm", np.inf):
            for w in p.values():  # torch's own clipping divides by norm + 1e-6
                w.grad *= rule["max_norm"] / norm
        optimizer.step()
    run["weights"] = torch.cat([w.detach().flatten() for w in p.values()]).double().numpy()
    return run


# --- The check: numpy, one sequence and one head at a time, differentiated by complex steps.

def logits_plain(flat_P, tokens_T):
    """Analytic in flat_P, so that it takes complex weights."""
    p = split(flat_P)

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred * centred).mean(-1, keepdims=True) + EPSILON_NORM)
        return centred / scale * p[f"{name}.weight"] + p[f"{name}.bias"]

    def linear(x, name):
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    def gelu(x):
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))

    x_TD = p["wte.weight"][tokens_T] + p["wpe.weight"]
    for layer in range(L):
        qkv = linear(norm(x_TD, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn")
        mixed_TD = np.empty_like(x_TD)
        for h in range(H):
            q, k, v = (qkv[:, part * D + h * K:part * D + (h + 1) * K] for part in range(3))
            e_TT = np.tril(np.exp(q @ k.T / np.sqrt(K)))
            mixed_TD[:, h * K:(h + 1) * K] = e_TT @ v / e_TT.sum(-1, keepdims=True)
        x_TD = x_TD + linear(mixed_TD, f"h.{layer}.attn.c_proj")
        up_TF = gelu(linear(norm(x_TD, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc"))
        x_TD = x_TD + linear(up_TF, f"h.{layer}.mlp.c_proj")
    return norm(x_TD, "ln_f") @ p["wte.weight"].T


def loss_plain(flat_P, tokens_BT, targets_BT, weights_BT):
    loss = 0.0
    for tokens_T, targets_T, weights_T in zip(tokens_BT, targets_BT, weights_BT):
        logits_TV = logits_plain(flat_P, tokens_T)
        nll_T = np.log(np.exp(logits_TV).sum(-1)) - logits_TV[np.arange(T), targets_T]
        loss += weights_T @ nll_T
    return loss / weights_BT.sum()


def gradient_plain(flat_P, data):
    """df/dw = Im f(w + ih) / h: no difference is taken, so a tiny h costs no digits."""
    gradient_P = np.empty(P)
    h = 1e-30
    for n in range(P):
        w = flat_P.astype(complex)
        w[n] += 1j * h
        gradient_P[n] = loss_plain(w, *data).imag / h
    return gradient_P


def train_plain(rule):
    w = initial_weights()
    decayed = np.concatenate([np.full(np.prod(s), float(len(s) == 2)) for s in SHAPES.values()])
    m, v = np.zeros(P), np.zeros(P)
    run = {"losses": [], "gradient_norms": [], "gradients": [],
           "logits_step_1": np.ravel([logits_plain(w, tokens_T) for tokens_T in BATCHES[0][0]])}
    for step, data in enumerate(BATCHES, start=1):
        g = gradient_plain(w, data)
        run["losses"].append(loss_plain(w, *data))
        run["gradient_norms"].append(np.linalg.norm(g))
        run["gradients"].append(g)
        g = g * min(1.0, rule.get("max_norm", np.inf) / np.linalg.norm(g))
        if "weight_decay" in rule:
            m = rule["beta1"] * m + (1 - rule["beta1"]) * g
            v = rule["beta2"] * v + (1 - rule["beta2"]) * g * g
            m_hat, v_hat = m / (1 - rule["beta1"]**step), v / (1 - rule["beta2"]**step)
            g = m_hat / (np.sqrt(v_hat) + rule["epsilon"]) + rule["weight_decay"] * decayed * w
        w = w - rule["learning_rate"] * g
    run["weights"] = w
    return run


def largest_deviation(got_P, want_P, floor):
    """max|got - want| over a tensor, as a share of max(max|want|, floor); the worst tensor's."""
    return max(np.abs(got - want).max() / max(np.abs(want).max(), floor)
               for got, want in zip(split(got_P).values(), split(want_P).values()))


def without_key_bias(flat_P):
    result = flat_P.copy()
    for layer in range(L):
        split(result)[f"h.{layer}.attn.c_attn.bias"][D:2 * D] = 0.0
    return result


def check(what, rule, got, want, tolerance):
    key_free = without_key_bias if rule is ADAMW else np.copy
    deviations = {
        "logits": np.abs(got["logits_step_1"] - want["logits_step_1"]).max(),
        "losses": np.abs(np.divide(got["losses"], want["losses"]) - 1).max(),
        "norms": np.abs(np.divide(got["gradient_norms"], want["gradient_norms"]) - 1).max(),
        "gradients": max(largest_deviation(g, w, 1e-3 * np.abs(w).max())
                         for g, w in zip(got["gradients"], want["gradients"])),
        "weights": largest_deviation(key_free(got["weights"]), key_free(want["weights"]),
                                     rule["learning_rate"])}
    print(f"{what}: " + ", ".join(f"{name} {value:.1e}" for name, value in deviations.items()))
    assert max(deviations.values()) < tolerance, f"{what}: expected less than {tolerance:.0e}"


def check_sharpness(run):
    """A comparison is worth what its inputs can tell apart."""
    for name, w in split(initial_weights()).items():
        assert w.all(), f"{name} starts with a zero"
        assert w.ndim == 1 or np.linalg.cond(w) < 1000, f"{name} is nearly singular"
    gradient_P = run["gradients"][0]
    for name, gradient in split(gradient_P).items():
        assert np.abs(gradient).max() > 0.02, f"{name} has hardly a gradient"
    assert np.abs(gradient_P - without_key_bias(gradient_P)).max() < 1e-15, "key bias"
    assert np.std(run["logits_step_1"]) > 0.5, "the logits hardly differ"
    norms = run["gradient_norms"]
    assert norms[0] > ADAMW["max_norm"] > norms[-1], "clipping must act, but not always"


# --- The file: one array per line.

ABOUT = f"""
Written by parity.py. Arrays are flat and row-major; "shapes" gives the shapes, in model order.
Model: GPT-2 with pre-norm blocks, causal attention scaled by 1/sqrt(K), tanh-GELU, tied output
matrix, Y = X W + b with W [in, out]; c_attn holds the columns q | k | v, head h takes columns
h K .. (h+1) K of each.
Formulas, in 64-bit integers up to the last division: mix(n) = {MULTIPLIER} n^3 mod {PRIME}.
initial: scalar n, counted from 0 through all parameters in model order, is
(2 mix(n) - {PRIME}) / 8192; a LayerNorm weight is 1 + that. Exact in f32 too.
batches: with step s counted from 1 and token(b, i) = mix(((s-1) B + b) (T+1) + i) mod V,
tokens[b][t] = token(b, t), targets[b][t] = token(b, t+1), and weights[b][t] = 0 if
(t + s + 3 b) mod T < (s + 2 b) mod T, else 1.
Loss: sum(weight nll) / sum(weight). losses and gradient_norms: of each step, before its update.
gradients_step_1 and gradient_norms: before clipping, which multiplies by max_norm / norm where
norm > max_norm. AdamW: decoupled decay on the two-dimensional tensors only; bias-corrected moments.
The key part (entries D .. 2 D) of every c_attn.bias has a true gradient of zero; what stands here
is rounding, which AdamW turns into steps: skip that part when comparing the weights under adamw.
"""


def encode(value, indent="  "):
    if isinstance(value, dict):
        lines = [f'{indent}"{key}": {encode(item, indent + "  ")}' for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + indent[2:] + "}"
    if isinstance(value, np.ndarray):
        return "[" + ", ".join(f"{number:.17g}" for number in value.flat) + "]"
    return json.dumps(value)


def contents(runs):
    def trained(rule, run):
        return {**rule, "losses": np.array(run["losses"]),
                "gradient_norms": np.array(run["gradient_norms"]), "weights": split(run["weights"])}

    return {
        "about": " ".join(ABOUT.split()),
        "config": {"L": L, "D": D, "H": H, "T": T, "V": V, "B": B, "steps": STEPS,
                   "layer_norm_epsilon": EPSILON_NORM},
        "shapes": SHAPES,
        "batches": {f"step_{step}": dict(zip(("tokens_BT", "targets_BT", "weights_BT"), arrays))
                    for step, arrays in enumerate(BATCHES, start=1)},
        "initial": split(initial_weights()),
        "logits_step_1": runs["sgd"]["logits_step_1"],
        "gradients_step_1": split(runs["sgd"]["gradients"][0]),
        "sgd": trained(SGD, runs["sgd"]),
        "adamw": trained(ADAMW, runs["adamw"])}


def main():
    torch.set_num_threads(1)  # sums in one order
    runs = {}
    for name, rule in (("sgd", SGD), ("adamw", ADAMW)):
        runs[name] = train_torch(rule, torch.float64)
        print(f"{name}: losses {runs[name]['losses']}, norms {runs[name]['gradient_norms']}")
        check(f"{name}, f32 against f64", rule, train_torch(rule, torch.float32), runs[name], 5e-6)
        check(f"{name}, numpy against torch", rule, train_plain(rule), runs[name], 1e-12)
    check_sharpness(runs["adamw"])
    path = pathlib.Path(__file__).with_name("parity.json")
    path.write_text(encode(contents(runs)) + "\n")
    print(f"wrote {path.name}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
