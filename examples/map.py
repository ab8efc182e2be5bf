#!/usr/bin/env python3
"""The numbers of lines in README.md, the map of the lessons.

    map.py            writes them anew
    map.py --check    says what is not found or not as it is written; the exit status is then 1

Where README.md has 07:111 `words`, the words stand in line 111 of lesson 07, and there first; where it has gputensor.h
`words`, they are there. Words in the last column of the table of points, "it prints", stand in what a lesson named in that
row prints, expected/NAME.txt, -pretend.txt or -h200.txt, with which "make check" and "make pretend" compare. Every lesson
has a row and what it prints, and every public function stands in a lesson or is named here."""
import glob
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(here, '../gputensor.h')
PLACE = re.compile(r'\b(\d\d):(\d+) `([^`]+)`')
wrong = []


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def paths_of(name):
    """The lesson's file or files: 12 has two; of a folder its README.md."""
    found = [p for p in sorted(glob.glob(os.path.join(here, name + '_*'))) if os.path.isdir(p) or p.endswith(('.c', '.cu'))]
    if not found: sys.exit('map.py: there is no lesson ' + name)
    return [os.path.join(p, 'README.md') if os.path.isdir(p) else p for p in found]


def place(match):
    """The same place with the number of the line where its words stand first."""
    name, line, words = match.groups()
    for path in paths_of(name):
        for number, text in enumerate(read(path).split('\n'), 1):
            if words in text: return '%s:%d `%s`' % (name, number, words)
    wrong.append('%s has no line with "%s"' % (' and '.join(map(os.path.basename, paths_of(name))), words))
    return match[0]


def printed(name):
    """All that a lesson prints, with one space between words."""
    return ' '.join(' '.join(read(p) for p in sorted(glob.glob(os.path.join(here, 'expected', name + '_*.txt')))).split())


def points(text):
    table = text[text.index('\n## The 84 points'):].split('\n## ')[1]
    return re.findall(r'^\| \d+ \|.*\|$', table, re.M)


def check_prints(text):
    for row in points(text):
        cells = row.strip('|').split('|')
        lessons = [m[1] for m in PLACE.finditer(row)]
        for words in re.findall(r'`([^`]+)`', cells[-1]):
            if not any(' '.join(words.split()) in printed(n) for n in lessons):
                wrong.append('point %s: "%s" is not what %s prints' % (cells[0].strip(), words, lessons))


def check_whole(text):
    if [int(row.split('|')[1]) for row in points(text)] != list(range(1, 85)): wrong.append('the points are not 1 to 84, in order')
    lessons = [os.path.basename(p) for p in glob.glob(os.path.join(here, '[0-9][0-9]_*'))]
    for name in lessons:
        if name not in text: wrong.append('no row for ' + name)
        if not glob.glob(os.path.join(here, 'expected', os.path.splitext(name)[0] + '*.txt')): wrong.append('expected/ has no ' + name)
    declared = read(HEADER).split('#endif /* GPUTENSOR_H */')[0]
    for words in re.findall(r'gputensor\.h `([^`]+)`', text):
        if words not in declared: wrong.append('gputensor.h does not say "%s"' % words)
    known = text + ''.join(read(p) for p in glob.glob(os.path.join(here, '[0-9]*.c*')) + glob.glob(os.path.join(here, '[0-9]*/*.[cdhmp]*')))
    for name in sorted(set(re.findall(r'GT_API[^;{]*?\b(gt_[a-z0-9_]+)\s*\(', declared))):
        if not re.search(r'\b%s\b' % name, known): wrong.append(name + ' is in no lesson, and not named in README.md')


def main():
    path = os.path.join(here, 'README.md')
    old = read(path)
    new = PLACE.sub(place, old)
    check_prints(new)
    check_whole(new)
    if '--check' in sys.argv:
        for a, b in zip(old.split('\n'), new.split('\n')):
            if a != b: wrong.append('other lines: run examples/map.py; ' + b)
    elif new != old:
        with open(path, 'w', encoding='utf-8') as file: file.write(new)
    print('\n'.join(wrong), end='\n' if wrong else '')
    sys.exit(bool(wrong))


main()
