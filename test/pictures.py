#!/usr/bin/env python3
"""The pictures of examples/pictures: prints what is wrong with them, and nothing if all is right.

Each is drawn again from the texts it was made from, and must be the same bytes. Each is well-formed XML; no text leaves
its canvas or lies upon another, by the widths of a wide font's characters. A trace made by hand gives the right slices."""
import importlib.util
import os
import sys
import tempfile
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
FOLDER = os.path.join(ROOT, 'examples', 'pictures')
SVG = '{http://www.w3.org/2000/svg}'
# DejaVu Sans is wider than what most browsers take. In parts of the size; bold is a seventh wider.
WIDTHS = {0.34: "ijl|.,:;'! ", 0.46: 'frt()[]/-"', 0.68: 'ABCDEFGHJKLNOPQRSTUVXYZ', 0.98: 'mwMW%@×<>=+^'}


def load_drawing():
    spec = importlib.util.spec_from_file_location('drawing', os.path.join(ROOT, 'examples', 'pictures.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def width_of(words, size, bold):
    one = lambda c: next((w for w, letters in WIDTHS.items() if c in letters), 0.62)
    return sum(map(one, words)) * size * (1.14 if bold else 1)


def boxes_of(root):
    """(left, top, right, bottom, words) of every text, capitals and descenders included."""
    boxes = []
    for t in root.iter(SVG + 'text'):
        size, x, y = (float(t.get(k)) for k in ('font-size', 'x', 'y'))
        width = width_of(t.text, size, t.get('font-weight'))
        left = x - width * {'start': 0, 'middle': 0.5, 'end': 1}[t.get('text-anchor', 'start')]
        boxes.append((left, y - 0.75 * size, left + width, y + 0.2 * size, t.text))
    return boxes


def faults(svg):
    """What is wrong with the texts of a picture."""
    root = tree.fromstring(svg)
    width, height = float(root.get('width')), float(root.get('height'))
    boxes, found = boxes_of(root), []
    for i, a in enumerate(boxes):
        if a[0] < 0 or a[1] < 0 or a[2] > width or a[3] > height: found.append('leaves the canvas: ' + a[4])
        for b in boxes[:i]:
            if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]: found.append('%s | lies upon | %s' % (a[4], b[4]))
    return found


def check_committed(drawing):
    drawn = sorted(n[:-4] for n in os.listdir(FOLDER) if n.endswith('.svg'))
    if not drawn: print('there is no picture in examples/pictures')
    for name in drawn:
        if name not in drawing.drawable(): print('%s.svg: nothing draws it' % name)
    with tempfile.TemporaryDirectory() as folder:
        for name in drawing.drawable():
            if name not in drawn:
                print('%s.svg is not there: make -C examples pictures' % name)
                continue
            drawing.main(['--to', folder, name])
            again, there = (open(os.path.join(f, name + '.svg'), 'rb').read() for f in (folder, FOLDER))
            if again != there: print('%s.svg is not what its texts give: make -C examples pictures' % name)
            for fault in faults(there): print('%s.svg: %s' % (name, fault))


def check_faults_are_found():
    """A check that finds nothing in a bad picture is none."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40">'
    for bad, texts in (('leaves', '<text x="60" y="20" font-size="12">too long</text>'),
                       ('lies upon', '<text x="9" y="20" font-size="9">one</text><text x="12" y="22" font-size="9">two</text>')):
        if not any(bad in f for f in faults(head + texts + '</svg>')): print('a text that %s is not found' % bad)
    if faults(head + '<text x="9" y="20" font-size="12">good</text></svg>'): print('a good picture is complained of')


def slice_of(pid, tid, begin, end, name, **args):
    return {'ph': 'X', 'pid': pid, 'tid': tid, 'ts': begin, 'dur': end - begin, 'name': name, 'args': args}


def check_slices(drawing):
    """Of two streams of a GPU within the range; calls and streams of the host, an engine, what came before and what came
    after are left out; two maps are one."""
    names = {(0, 1): 'host', (0, 100001): 'stream 1', (1, 1): 'upload', (1, 100001): 'stream 1', (1, 100002): 'stream 2'}
    events = [{'ph': 'M', 'pid': p, 'tid': t, 'ts': 0, 'name': 'thread_name', 'args': {'name': n}}
              for (p, t), n in names.items()]
    events += [slice_of(1, 100001, 10.0, 20.0, 'a*2'), slice_of(0, 1, 95.0, 990.0, 'run', call='gt_range_push'),
               slice_of(0, 1, 96.0, 97.0, 'gt_copy', call='gt_copy', direction='to the device'),
               slice_of(1, 100001, 100.0, 300.0, 'gt_copy', direction='to the device'),
               slice_of(1, 1, 100.0, 300.0, 'gt_copy', direction='to the device'),
               slice_of(1, 100001, 300.0, 400.0, 'a + 1'), slice_of(1, 100001, 400.2, 500.0, 'a + 1'),
               slice_of(1, 100001, 700.0, 800.0, 'a + 1'),
               slice_of(0, 100001, 200.0, 300.0, 'a*3'), slice_of(1, 100001, 995.0, 999.0, 'a*2'),
               slice_of(1, 100002, 500.0, 900.0, 'gt_copy', direction='to the host')]
    expected = [['stream 1', 'to', 0.0, 200.0], ['stream 1', 'work', 200.0, 400.0], ['stream 1', 'work', 600.0, 700.0],
                ['stream 2', 'from', 400.0, 800.0]]
    found = drawing.slices_of({'traceEvents': events}, 'run')
    if found != expected: print('the slices of a trace: %s, not %s' % (found, expected))


if __name__ == '__main__':
    made = load_drawing()
    check_faults_are_found()
    check_slices(made)
    check_committed(made)
