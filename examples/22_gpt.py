#!/usr/bin/env python3
"""Lesson 22 beside PyTorch: the same model, the same weights, the same prompt.

    python3 examples/22_gpt.py ./gpt [--speed]

makes a small random model in PyTorch, saves it as safetensors, and compares the logits of a prompt that PyTorch
computes with those of the lesson's program, on the CPU and, where there is one, on the GPU. --speed adds a model of
the size of GPT-2's smallest, 12 layers, 768 wide, 50257 words, and counts tokens a second, each drawn from the 40
likeliest, with the keys and values of earlier tokens kept in both."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F

HEAD, LIKELIEST, TEMPERATURE = 64, 40, 0.8


def random_model(layers, width, words, positions):
    """GPT-2's names and shapes; logits of some units, so that attention and norms count."""
    g = torch.Generator().manual_seed(22)
    matrix = lambda *shape: torch.randn(shape, generator=g) / shape[0] ** .5
    w = {'wte.weight': torch.randn((words, width), generator=g) / width ** .5,
         'wpe.weight': torch.randn((positions, width), generator=g) / width ** .5}
    norms = ['ln_f'] + ['h.%d.%s' % (i, name) for i in range(layers) for name in ('ln_1', 'ln_2')]
    for name in norms:
        w[name + '.weight'] = 1 + .2 * torch.randn(width, generator=g)
        w[name + '.bias'] = .2 * torch.randn(width, generator=g)
    for i in range(layers):
        for name, rows, columns in (('attn.c_attn', 1, 3), ('attn.c_proj', 1, 1), ('mlp.c_fc', 1, 4), ('mlp.c_proj', 4, 1)):
            w['h.%d.%s.weight' % (i, name)] = matrix(rows * width, columns * width)
            w['h.%d.%s.bias' % (i, name)] = .2 * torch.randn(columns * width, generator=g)
    return w


def save_safetensors(path, tensors):
    """Eight bytes with the length of a JSON text, the text, the elements."""
    header, at = {}, 0
    for name, x in tensors.items():
        header[name] = {'dtype': 'F32', 'shape': list(x.shape), 'data_offsets': [at, at + 4 * x.numel()]}
        at += 4 * x.numel()
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text)
        for x in tensors.values(): file.write(x.numpy().tobytes())


class GPT:
    def __init__(self, w, device):
        self.w = {name: x.to(device) for name, x in w.items()}
        self.device = device
        self.width = w['wte.weight'].shape[1]
        self.heads = self.width // HEAD
        self.layers = 1 + max(int(name.split('.')[1]) for name in w if name.startswith('h.'))

    def new_cache(self, sequences, positions):
        return torch.zeros((self.layers, 2, sequences, self.heads, positions, HEAD), device=self.device)

    def norm(self, x, name):
        return F.layer_norm(x, (self.width,), self.w[name + '.weight'], self.w[name + '.bias'], 1e-5)

    def linear(self, x, name):
        return torch.addmm(self.w[name + '.bias'], x, self.w[name + '.weight'])

    def forward(self, token, at, cache):
        """Logits of all tokens; token: (sequences, tokens), of which the first stands at `at`."""
        b, t = token.shape
        x = self.w['wte.weight'][token] + self.w['wpe.weight'][at:at + t]
        x = x.view(b * t, self.width)
        for i in range(self.layers):
            h = 'h.%d.' % i
            q, k, v = self.linear(self.norm(x, h + 'ln_1'), h + 'attn.c_attn').view(b, t, 3, self.heads, HEAD).permute(2, 0, 3, 1, 4)
            cache[i, 0, :, :, at:at + t] = k
            cache[i, 1, :, :, at:at + t] = v
            y = F.scaled_dot_product_attention(q, cache[i, 0, :, :, :at + t], cache[i, 1, :, :, :at + t], is_causal=t > 1)
            x = x + self.linear(y.transpose(1, 2).reshape(b * t, self.width), h + 'attn.c_proj')
            y = F.gelu(self.linear(self.norm(x, h + 'ln_2'), h + 'mlp.c_fc'), approximate='tanh')
            x = x + self.linear(y, h + 'mlp.c_proj')
        return self.norm(x, 'ln_f') @ self.w['wte.weight'].T

    def step(self, s):
        """One token of each sequence, as the lesson has it: shapes are fixed, so that a graph serves every position."""
        b = s['token'].shape[0]
        at = s['position']
        mask = torch.where(torch.arange(s['cache'].shape[4], device=self.device) <= at, 0., -torch.inf)
        x = self.w['wte.weight'][s['token'][:, 0]] + self.w['wpe.weight'][at]
        for i in range(self.layers):
            h = 'h.%d.' % i
            q, k, v = self.linear(self.norm(x, h + 'ln_1'), h + 'attn.c_attn').view(b, 1, 3, self.heads, HEAD).permute(2, 0, 3, 1, 4)
            s['cache'][i, 0].index_copy_(2, at, k)
            s['cache'][i, 1].index_copy_(2, at, v)
            y = F.scaled_dot_product_attention(q, s['cache'][i, 0], s['cache'][i, 1], attn_mask=mask)
            x = x + self.linear(y.reshape(b, self.width), h + 'attn.c_proj')
            y = F.gelu(self.linear(self.norm(x, h + 'ln_2'), h + 'mlp.c_fc'), approximate='tanh')
            x = x + self.linear(y, h + 'mlp.c_proj')
        likely, word = (self.norm(x, 'ln_f') @ self.w['wte.weight'].T).topk(LIKELIEST)
        noise = s['noise'][at][0]
        s['token'].copy_(word.gather(1, (likely / TEMPERATURE - torch.log(-torch.log(noise))).argmax(1, keepdim=True)))
        at += 1

    def generate_by_graph(self, sequences, begin, count):
        s = {'token': torch.zeros((sequences, 1), dtype=torch.int64, device=self.device),
             'position': torch.full((1,), begin, device=self.device),
             'cache': self.new_cache(sequences, begin + count),
             'noise': torch.rand((begin + count, sequences, LIKELIEST), device=self.device)}
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3): self.step(s)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph): self.step(s)
        s['position'].fill_(begin)
        text = torch.zeros((sequences, count), dtype=torch.int64, device=self.device)
        torch.cuda.synchronize()
        began = time.perf_counter()
        for i in range(count):
            graph.replay()
            text[:, i:i + 1] = s['token']
        torch.cuda.synchronize()
        return sequences * count / (time.perf_counter() - began)

    def generate(self, prompt, count):
        """Tokens a second behind the prompt."""
        b, t = prompt.shape
        cache = self.new_cache(b, t + count)
        text = torch.zeros((b, t + count), dtype=torch.int64, device=self.device)
        logits = self.forward(prompt, 0, cache).view(b, t, -1)[:, -1]
        for i in range(t, t + count):
            if i == t + 4: torch.cuda.synchronize(); began = time.perf_counter()
            likely, word = logits.topk(LIKELIEST)
            token = word.gather(1, torch.multinomial((likely / TEMPERATURE).softmax(-1), 1))
            text[:, i:i + 1] = token
            logits = self.forward(token, i, cache)
        torch.cuda.synchronize()
        return b * (count - 4) / (time.perf_counter() - began)


def run_ours(program, device, model, prompt, count, folder):
    """The prompt's logits, and what the program prints."""
    np.save(folder + '/prompt.npy', prompt.numpy())
    printed = subprocess.run([program, '--device', device, model, folder + '/prompt.npy', str(count), folder + '/logits.npy'],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
    return torch.from_numpy(np.load(folder + '/logits.npy')), printed


def compare(program, folder, w, sequences, tokens, count, devices):
    words, positions = w['wte.weight'].shape[0], tokens + count
    assert positions <= w['wpe.weight'].shape[0]
    prompt = torch.randint(words, (sequences, tokens), generator=torch.Generator().manual_seed(1))
    exact = {name: x.double() for name, x in w.items()}
    want = GPT64(exact, 'cpu').forward(prompt, 0, GPT64(exact, 'cpu').new_cache(sequences, tokens))
    for device in devices:
        peer = GPT(w, device)
        theirs = peer.forward(prompt.to(device), 0, peer.new_cache(sequences, tokens)).cpu()
        ours, printed = run_ours(program, device, folder + '/model.safetensors', prompt, count, folder)
        off = lambda a, b: float((a.double() - b.double()).abs().max() / want.abs().max())
        print('%s, %d x %d tokens: ours from PyTorch %.1e of the largest logit; from float64 ours %.1e, PyTorch %.1e'
              % (device, sequences, tokens, off(ours, theirs), off(ours, want), off(theirs, want)))
        assert off(ours, theirs) < 1e-5
        rates = re.search(r'by calls (\d+) tokens a second, by a graph (\d+)', printed).groups()
        if device == 'cuda' and '--speed' in sys.argv:
            print('  %d sequences, tokens a second: ours by calls %s, by a graph %s, PyTorch %.0f, by a graph %.0f'
                  % (sequences, *rates, peer.generate(prompt.to(device), count), peer.generate_by_graph(sequences, tokens, count)))


class GPT64(GPT):
    def new_cache(self, sequences, positions):
        return super().new_cache(sequences, positions).double()


def main():
    program = sys.argv[1]
    devices = ['cpu'] + ['cuda'] * torch.cuda.is_available()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        w = random_model(3, 192, 1000, 128)
        save_safetensors(folder + '/model.safetensors', w)
        compare(program, folder, w, 3, 37, 50, devices)
        if '--speed' in sys.argv:
            w = random_model(12, 768, 50257, 1024)
            save_safetensors(folder + '/model.safetensors', w)
            for sequences in (1, 8): compare(program, folder, w, sequences, 16, 240, devices[-1:])


main()
