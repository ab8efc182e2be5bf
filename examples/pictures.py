#!/usr/bin/env python3
"""Draws the pictures of examples/pictures from what the project's own programs printed, as SVG, without any package.

    pictures.py [--to FOLDER] [NAME...]   draws those named, without names all
    pictures.py slices TRACE WHERE HOW    prints of a trace that lesson 06 saved what a timeline is drawn from: the slices
                                          of its streams; WHERE and HOW are two lines about the machine and the command

Every number comes from a file: test/bench/*.txt, examples/expected/*.txt and, beside the pictures, *.txt. `make -C examples
pictures` makes those of them that every machine can make, then all pictures; the same texts give the same bytes."""
import json
import math
import os
import re
import sys
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, '..', 'test', 'bench')
EXPECTED = os.path.join(HERE, 'expected')
PICTURES = os.path.join(HERE, 'pictures')

# Okabe and Ito's colours, which the colour-blind can tell apart, and greys.
BLUE, ORANGE, GREEN, RED = '#0072b2', '#e69f00', '#009e73', '#d55e00'
INK, SOFT, GREY, RULE, PALE, PAPER = '#1f2328', '#59636e', '#a0a7b0', '#d8dde3', '#f1f3f5', '#ffffff'
WIDTH, LEFT, RIGHT = 860, 24, 836  # of a picture, and where its contents begin and end

# ---- drawing: a picture is a list of lines of SVG; x goes to the right, y down, in pixels ----


def number(x):
    """With one decimal, and none where it is 0: the same text on every machine."""
    return re.sub(r'^-0$', '0', re.sub(r'\.0$', '', '%.1f' % x))


def text(p, x, y, words, size=12, color=INK, anchor='start', bold=False):
    """`anchor` says which end of the words stands at x: start, middle or end; y is their base line."""
    weight = ' font-weight="600"' if bold else ''
    where = '' if anchor == 'start' else ' text-anchor="%s"' % anchor
    p.append('<text x="%s" y="%s" font-size="%s" fill="%s"%s%s>%s</text>' % (
        number(x), number(y), number(size), color, where, weight, escape(words)))


def bar(p, x, y, width, height, color, says=''):
    """`says` is shown where the mouse points."""
    tip = '<title>%s</title>' % escape(says) if says else ''
    p.append('<rect x="%s" y="%s" width="%s" height="%s" fill="%s">%s</rect>' % (
        number(x), number(y), number(max(width, 0.5)), number(height), color, tip))


def line(p, x0, y0, x1, y1, color=RULE, width=1):
    p.append('<path d="M%s %sL%s %s" stroke="%s" stroke-width="%s"/>' % (
        number(x0), number(y0), number(x1), number(y1), color, number(width)))


def curve(p, points, color):
    path = 'L'.join('%s %s' % (number(x), number(y)) for x, y in points)
    p.append('<path d="M%s" fill="none" stroke="%s" stroke-width="2.5" stroke-linejoin="round"/>' % (path, color))


def key(p, x, y, color, words):
    """A square of that colour and its name; returns where the next one may stand."""
    bar(p, x, y - 10, 11, 11, color)
    text(p, x + 17, y, words, 12.5)
    return x + 17 + 7.2 * len(words) + 18


def begin(height, title, under=()):
    """A panel of its own colour, which is read on light and on dark pages, with what it shows in words."""
    p = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" '
         'font-family="Segoe UI, Helvetica, Arial, sans-serif">' % (WIDTH, height, WIDTH, height),
         '<title>%s</title>' % escape(title),
         '<rect x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>' % (
             WIDTH - 1, height - 1, PAPER, RULE)]
    text(p, LEFT, 36, title, 19, bold=True)
    for i, words in enumerate(under): text(p, LEFT, 58 + 18 * i, words, 13, SOFT)
    return p


def finish(p, height, sources):
    """`sources`: where the numbers come from, a line each, at the foot."""
    for i, words in enumerate(sources): text(p, LEFT, height - 16 - 15 * (len(sources) - 1 - i), words, 11, SOFT)
    return '\n'.join(p + ['</svg>', ''])


def ticks(longest):
    """0 and up to seven round steps, none beyond `longest`."""
    rough = longest / 7
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * (1 - 1e-9))
    return [i * step for i in range(int(longest / step * (1 + 1e-9)) + 1)]


def in_words(us):
    """A time in microseconds, with three figures and a unit."""
    for unit, size in (('s', 1e6), ('ms', 1e3), ('µs', 1)):
        if us >= size or size == 1: break
    value = us / size
    return '%.*f %s' % (max(0, 2 - (math.floor(math.log10(value)) if value >= 1 else 0)), value, unit)


# ---- reading ----


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file: return file.read()


def find(pattern, words, what):
    match = re.search(pattern, words)
    if not match: sys.exit('pictures.py: no %s in: %s' % (what, words[:200]))
    return match.group(0)


def source(machine, words, *patterns):
    """The machine's name, which must stand in the file's first lines, and what the patterns find there."""
    first = ' '.join(words.split('\n\n')[0].split())
    return ', '.join([find(re.escape(machine), first, machine)] + [find(q, first, q) for q in patterns])


def command(words):
    return find(r'(?m)^python3 .*$', words, 'command')


DATE, TORCH, OURS = r'\d{4}-\d\d-\d\d', r'PyTorch [\d.]+', r'gputensor [\d.]+'

# ---- timelines: lesson 06 on one stream and on four ----
KINDS = {'to': (BLUE, 'copy to the GPU'), 'work': (ORANGE, 'computing'), 'from': (GREEN, 'copy to the host')}
PARTS = 'one stream, pinned memory', 'four streams, pinned memory'


def read_slices(words):
    """The two lines about where and how, and {part: [(lane, kind, begin, end)]}, in microseconds from the part's begin."""
    where, *parts = words.strip().split('\n\n')
    found = {}
    for part in parts:
        name, *lines = part.split('\n')
        rows = [re.split(r'  +', one) for one in lines]
        found[name] = [(lane, kind, float(start), float(end)) for lane, kind, start, end in rows]
    return where.split('\n'), found


def lanes_of(events):
    """{(process, lane): name} of the streams of GPUs; process 0 is the host."""
    return {(e['pid'], e['tid']): e['args']['name'] for e in events
            if e['name'] == 'thread_name' and e['pid'] and e['args']['name'].startswith('stream')}


def slices_of(trace, part):
    """Of a trace's JSON, (lane, kind, begin, end) of what the streams did within the range of that name; what follows a
    slice of its kind by less than a pixel is one with it."""
    events = trace['traceEvents']
    lanes = lanes_of(events)
    inside = [(e['ts'], e['ts'] + e['dur']) for e in events if e['ph'] == 'X' and e['name'] == part and not e['pid']]
    if len(inside) != 1: sys.exit('pictures.py: %d ranges of the trace are called "%s"' % (len(inside), part))
    kinds = {'to the device': 'to', 'to the host': 'from'}
    found = sorted([lanes[e['pid'], e['tid']], e['ts'], e['ts'] + e['dur'], kinds.get(e['args'].get('direction'), 'work')]
                   for e in events if e['ph'] == 'X' and (e['pid'], e['tid']) in lanes
                   and inside[0][0] <= e['ts'] <= inside[0][1])
    if not found: sys.exit('pictures.py: no stream of a GPU worked in "%s"' % part)
    first, pixel = min(s[1] for s in found), (max(s[2] for s in found) - min(s[1] for s in found)) / RIGHT
    slices = []
    for lane, start, end, kind in found:
        if slices and slices[-1][:2] == [lane, kind] and start - first - slices[-1][3] < pixel: slices[-1][3] = end - first
        else: slices.append([lane, kind, start - first, end - first])
    return slices


def print_slices(path, where, how):
    trace = json.loads(read(path))
    if trace['otherData']['dropped']: sys.exit('pictures.py: the trace is not whole')
    print(where + '\n' + how)
    for part in PARTS:
        print('\n' + part)
        for lane, kind, start, end in slices_of(trace, part): print('%s  %-4s  %.1f  %.1f' % (lane, kind, start, end))


def draw_row(p, y, label, slices, scale):
    text(p, 150, y + 13, label, 12, anchor='end')
    bar(p, 160, y, RIGHT - 160, 17, PALE)
    for lane, kind, start, end in slices:
        says = '%s, %s: %.1f to %.1f us' % (lane, KINDS[kind][1], start, end)
        width = (end - start) * scale
        bar(p, 160 + start * scale, y, width - 0.6 * (width > 3), 17, KINDS[kind][0], says)  # so that neighbours are two


def draw_part(p, y, name, slices, scale):
    """A row for each stream, then one for each engine, which does one thing at a time."""
    total = max(end for _, _, _, end in slices)
    text(p, LEFT, y + 13, '%s: %s' % (name.split(',')[0], in_words(total)), 14, bold=True)
    y += 24
    rows = [(lane, [s for s in slices if s[0] == lane]) for lane in sorted({s[0] for s in slices})]
    rows += [(KINDS[kind][1], [s for s in slices if s[1] == kind]) for kind in KINDS]
    for i, (label, row) in enumerate(rows):
        draw_row(p, y + 21 * i + 6 * (i >= len(rows) - 3), label, row, scale)
    return y + 21 * len(rows) + 6


def timeline(name):
    where, parts = read_slices(read(PICTURES, name + '.txt'))
    one, four = (parts[part] for part in PARTS)
    longest, short = (max(s[3] for s in part) for part in (one, four))
    scale = (RIGHT - 160) / longest
    height = 500
    p = begin(height, 'Four streams overlap copies with computing: %.2f times as fast' % (longest / short),
              ['Lesson 06: %d chunks go to the GPU, are computed on and come back. The rows below the streams show the' %
               sum(s[1] == 'to' for s in one),
               'same work by the part of the GPU that does it: on one stream only one of the three is ever busy.'])
    x = LEFT
    for color, words in KINDS.values(): x = key(p, x, 104, color, words)
    y = draw_part(p, 118, PARTS[0], one, scale) + 10
    y = draw_part(p, y, PARTS[1], four, scale)
    for tick in ticks(longest):
        line(p, 160 + tick * scale, y + 2, 160 + tick * scale, y + 7, GREY)
        text(p, 160 + tick * scale, y + 20, '%g' % (tick / 1000), 11, SOFT, 'middle')
    text(p, 150, y + 20, 'ms', 11, SOFT, 'end')
    return finish(p, height, where)


# ---- ours beside the peers ----


def read_operations(words):
    """(name, shape, dtype, peer, ours, theirs, ratio) of each line of peers.py; times in microseconds."""
    rows = [re.split(r'\s{2,}', one) for one in words.split('\n') if re.search(r'\d\.\d\d +\d', one)]
    return [(r[0], r[1], r[2], r[3], float(r[4]), float(r[5].split()[0]), float(r[6].split()[0]))
            for r in rows if len(r) >= 8 and re.match(r'[\d.]+$', r[4])]


PRODUCT = re.compile(r'(?m)^(\S.*?) +(\d+x\d+x\d+) +([NT]{2}) +(float\d+|bfloat16) +(?:(\d+) +)?'
                     r'(\d+\.\d+) +(\d+\.\d+) +\d+\.\d+ +(\d+\.\d+)')


def read_products(words):
    """The same of matmul.py and matmul_cpu.py, of the latter all threads: name, shape with its layout, dtype."""
    rows = [m.groups() for m in PRODUCT.finditer(words)]
    most = max((int(r[4]) for r in rows if r[4]), default=0)
    return [(r[0], '%s %s' % (r[1], r[2]), r[3], 'PyTorch', float(r[5]), float(r[6]), float(r[7]))
            for r in rows if not r[4] or int(r[4]) == most]


def chosen(rows, keys):
    """Those lines, in this order: a key is the beginning of 'name shape dtype peer', and what to call it instead."""
    found = []
    for wanted, shown in keys:
        hits = [r for r in rows if ' '.join(r[:4]).startswith(wanted)]
        if not hits: sys.exit('pictures.py: no line "%s"' % wanted)
        found.append(((shown or hits[0][0]), ) + hits[0][1:])
    return found


def level(rows):
    return sum(r[6] >= 0.995 for r in rows)


def all_of(rows, which):
    """Of all lines, in one sentence, so that the choice of those that are shown can be judged."""
    mean = math.exp(sum(math.log(r[6]) for r in rows) / len(rows))
    return 'all %d %s: geometric mean %.2f×, slower on %d, from %.2f× to %.2f×' % (
        len(rows), which, mean, len(rows) - level(rows), min(r[6] for r in rows), max(r[6] for r in rows))


def draw_pair(p, y, row):
    """Two bars: the speed of each as a share of the faster one's. The ratio is the median of the rounds' ratios."""
    name, shape, dtype, peer, ours, theirs, ratio = row
    full = 300
    text(p, LEFT, y + 13, name)
    text(p, 196, y + 13, shape, 11, SOFT)
    text(p, 318, y + 13, dtype, 11, SOFT)
    bar(p, 384, y, full * min(ratio, 1), 8, BLUE, 'gputensor: ' + in_words(ours))
    bar(p, 384, y + 9, full * min(1 / ratio, 1), 8, GREY, '%s: %s' % (peer, in_words(theirs)))
    text(p, 752, y + 13, '%.2f×' % ratio, 12.5, RED if ratio < 0.995 else INK, 'end', bold=True)
    text(p, RIGHT, y + 13, in_words(ours), 11, SOFT, 'end')


def draw_group(p, y, name, rows, which, keys):
    text(p, LEFT, y, name, 14, bold=True)
    text(p, RIGHT, y, all_of(rows, which), 11, SOFT, 'end')
    for i, row in enumerate(chosen(rows, keys)): draw_pair(p, y + 12 + 24 * i, row)
    return y + 12 + 24 * len(keys)


def peers(machine, under, files, which, operations, products):
    """`operations` and `products`: the lines to be shown of the two files of test/bench; `which` of the second are read."""
    texts = [read(BENCH, file) for file in files]
    # HIGH and MEDIUM are less exact than what stands beside them
    rows = [read_operations(texts[0]), [r for r in read_products(texts[1]) if r[0] not in ('HIGH', 'MEDIUM') and "XLA's" not in r[0]]]
    sources = sorted({source(machine, one, DATE, TORCH, OURS) for one in texts})
    height = 222 + 24 * (len(operations) + len(products)) + 15 * len(sources)
    p = begin(height, 'As fast as PyTorch or faster on %d of %d lines: %s' % (
        level(rows[0] + rows[1]), len(rows[0] + rows[1]), machine), under)
    x = key(p, LEFT, 104, BLUE, 'gputensor')
    x = key(p, x, 104, GREY, 'PyTorch')
    text(p, x, 104, 'bars: speed as a share of the faster one; behind them ours to theirs, red where ours is slower, and our time',
         11, SOFT)
    y = draw_group(p, 132, 'Ten operations', rows[0], 'lines', operations)
    draw_group(p, y + 18, 'Ten products', rows[1], which, products)
    return finish(p, height, sources + [command(one) for one in texts])


def peers_h200(_):
    return peers(
        'NVIDIA H200',
        ['Memory sets the pace of simple operations, where nobody can be faster. One pass in place of several gains, as do',
         'transposes; float32 products run on the tensor cores, and are as exact as PyTorch\'s, which do not.'],
        ['peers-h200.txt', 'matmul-h200.txt'], 'lines but HIGH and MEDIUM',
        [('add 2^28 float32', ''), ('gelu 2^28 bfloat16', ''), ('chain of 8 2^28 float32 PyTorch', 'formula of 8 steps'),
         ('chain of 8 2^28 bfloat16 compile', '8 steps, torch.compile'), ('add a row 262144x1024 float32', 'add a row to all'),
         ('transposed copy 262144x1024 float32', ''), ('sum of dim 1 262144x1024 float32', ''),
         ('softmax 262144x1024 float32', ''), ('mean((a-b)^2) 2^28 float32 PyTorch', ''), ('gt_add of 1024', 'a small call, gt_add')],
        [('square 1024x1024x1024 NN bfloat16', ''), ('square 4096x4096x4096 NN bfloat16', ''),
         ('square 8192x8192x8192 NN bfloat16', ''), ('odd rows 4095x4097x4093', 'odd sizes'), ('relu(xw + b)', ''),
         ('gelu(xw + b)', ''), ('shapes 8192x1280x8192 NT bfloat16', 'few columns'),
         ('HIGHEST 4096x4096x4096 NN', 'highest precision'), ('without tensor cores 4096', ''), ('float64 4096', 'square')])


def peers_xeon(_):
    return peers(
        'Intel Xeon with 16 cores',
        ['PyTorch takes its products from MKL and oneDNN. The machine is a virtual one on a shared host: what is near 1',
         'on one day is on the other side of it on the next.'],
        ['peers-xeon.txt', 'matmul-xeon.txt'], 'lines of 16 threads',
        [('add 2^24 float32', ''), ('exp 2^24 float32', ''), ('gelu 2^24 float32', ''),
         ('chain of 8 2^24 float32', 'formula of 8 steps'), ('add a row 16384x1024 float32', 'add a row to all'),
         ('transposed copy 16384x1024', ''), ('sum of dim 1 16384x1024', ''), ('softmax 16384x1024', ''),
         ('mean((a-b)^2) 2^24 float32 PyTorch', ''), ('gt_add of 1024', 'a small call, gt_add')],
        [('small 64x64x64', ''), ('square 512x512x512 NN float32', ''), ('square 2048x2048x2048 NN float32', ''),
         ('square 4096x4096x4096 NN float32', ''), ('square 4096x4096x4096 NN float64', ''),
         ('bfloat16 1024x1024x1024 NT', 'square'), ('bfloat16 4096x4096x4096 NN', 'square'),
         ('skinny 4x2048x2048 NT', 'four rows'), ('skinny 64x64x8192', 'long sums'), ('skinny 1000x1000x1', 'outer product')])


# ---- the ladder of lesson 12 ----
RUNGS = {'naive': 'a thread an element, neighbours far apart in memory',
         'coalesced': 'neighbouring threads read neighbouring numbers',
         'shared tile': 'each number is read from memory once for 32 uses',
         'registers 1-D': 'a thread makes 8 elements: 9 loads for 8 multiply-adds',
         'registers 2-D': 'a thread makes 8 x 8: 16 loads for 64 multiply-adds',
         'vector loads': 'four numbers a load',
         'the library': 'float32 by the tensor cores, in six products of bfloat16 pieces',
         'mma.sync': 'bfloat16: a warp multiplies 16 x 16 by 16 x 8',
         'wgmma': 'four warps multiply from shared memory, and go on meanwhile',
         'TMA': 'one thread has whole tiles copied, eight warps multiply',
         'the library, bfloat16': 'clusters share loads, blocks stay for all tiles'}


def ladder(_):
    words = read(EXPECTED, '12_matmul_ladder-h200.txt')
    size = find(r'float32 \d+ x \d+ x \d+', words, 'size')
    rungs = re.findall(r'(?m)^ *\d+ (.*?) +([\d.]+) ms +([\d.]+) TFLOP/s', words)
    best = max(float(rate) for _, _, rate in rungs)
    height = 130 + 46 * len(rungs)
    p = begin(height, 'A matrix product, from %.1f to %.0f TFLOP/s by %d kernels' % (
        float(rungs[0][2]), float(rungs[-1][2]), len(rungs)),
              ['Lesson 12, %s. Each step removes what the one before it waits for.' % size])
    before = None
    for i, (name, ms, rate) in enumerate(rungs):
        y, length, library = 80 + 46 * i, float(rate) / best * 520, name == 'the library'
        text(p, LEFT, y + 18, '%d  %s' % (i + 1, name), 13, bold=True)
        bar(p, 170, y + 4, length, 20, BLUE if library else ORANGE, '%s ms' % ms)
        text(p, 178 + length, y + 18, '%s TFLOP/s' % rate, 12.5, bold=True)
        if before:
            x, anchor, color = (162 + length, 'end', PAPER) if length > 400 else (322 + length, 'start', SOFT)
            text(p, x, y + 18, '%.1f× the one before' % (float(rate) / before), 12, color, anchor)
        what = name + ', bfloat16' if library and i == len(rungs) - 1 else name
        text(p, 170, y + 38, RUNGS.get(what, ''), 11.5, SOFT)
        before = None if library else float(rate)  # what comes next are numbers of another kind
    return finish(p, height, [source('NVIDIA H200', words, DATE) + ': ./ladder of examples/12_matmul_ladder.cu'])


# ---- the training of lesson 09 ----


def draw_axis(p, x0, y0, y1, values, low, high, unit, x1):
    for v in values:
        y = y1 - (v - low) / (high - low) * (y1 - y0)
        line(p, x0, y, x1, y)
        text(p, x0 - 8, y + 4, '%g%s' % (v, unit), 11, SOFT, 'end')


def draw_curve(p, x, y, low, high, values, color, unit, words, above):
    """In the box (x0, x1), (y0, y1), from low to high, with its name and its last value."""
    points = [(x[0] + (x[1] - x[0]) * i / (len(values) - 1), y[1] - (v - low) / (high - low) * (y[1] - y[0]))
              for i, v in enumerate(values)]
    curve(p, points, color)
    bar(p, points[-1][0] - 3, points[-1][1] - 3, 6, 6, color)
    text(p, x[1] + 8, points[-1][1] + 4, unit % values[-1], 12.5, color, bold=True)
    text(p, x[0] + 60, points[6][1] + above, words, 13, color, bold=True)


def training(_):
    words = read(PICTURES, 'training.txt')
    rows = [tuple(map(float, m)) for m in re.findall(r'(?m)^epoch +(\d+) +loss ([\d.]+) +held out ([\d.]+) %', words)]
    height, x = 400, (70, 770)
    right = rows[-1][2]
    p = begin(height, 'A network learns to read digits: %.1f %% of those it never saw' % right,
              ['Lesson 09: 64 inputs, 128 hidden units, 10 classes, %d epochs over 1198 digits; 599 are held out.' % len(rows)])
    draw_axis(p, x[0], 80, 200, (80, 85, 90, 95, 100), 80, 100, ' %', x[1])
    draw_curve(p, x, (80, 200), 80, 100, [r[2] for r in rows], BLUE, '%.1f %%', 'held out, read rightly', 40)
    draw_axis(p, x[0], 225, 345, (0, 0.5, 1, 1.5), 0, 1.5, '', x[1])
    draw_curve(p, x, (225, 345), 0, 1.5, [r[1] for r in rows], RED, '%.2f', 'loss, mean over the epoch', -24)
    for epoch in (1, 10, 20, 30, len(rows)):
        text(p, x[0] + (x[1] - x[0]) * (epoch - 1) / (len(rows) - 1), 361, '%d' % epoch, 11, SOFT, 'middle')
    text(p, x[1] + 22, 361, 'epoch', 11, SOFT)
    return finish(p, height, [words.split('\n')[0]])


# ---- the plan ----
PLAN = {'timeline-pretend': timeline, 'timeline-h200': timeline, 'peers-h200': peers_h200, 'peers-xeon': peers_xeon,
        'ladder-h200': ladder, 'training': training}


def drawable():
    """A timeline is drawn once its text is there: that of a GPU comes from a machine that has one."""
    return [n for n in PLAN if PLAN[n] != timeline or os.path.exists(os.path.join(PICTURES, n + '.txt'))]


def main(arguments):
    if arguments[:1] == ['slices']: return print_slices(*arguments[1:])
    folder, names = PICTURES, list(arguments)
    if names[:1] == ['--to']: folder, names = names[1], names[2:]
    for name in names or drawable():
        with open(os.path.join(folder, name + '.svg'), 'w', encoding='utf-8', newline='\n') as file:
            file.write(PLAN[name](name))


if __name__ == '__main__': main(sys.argv[1:])
