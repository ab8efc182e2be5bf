#!/usr/bin/env python3
"""Is what the comment at a lesson's head shows, behind "Output ... make -C examples pretend-...", what it printed?

    heads.py LESSON PRINTED           prints what is not; the exit status is then 1
    heads.py --write LESSON PRINTED   writes it there

A line that ends with " ..." is the begin of one, "..." stands for the rest of lines that begin with the same word."""
import re
import sys

WIDTH = 102  # of the widest line, a timeline's


def wanted(printed):
    """What the head is to show: of lines that begin with the same word and a colon the first two."""
    lines, word, alike = [], '', 0
    for line in printed.rstrip('\n').split('\n'):
        begin = re.match(r'(?:\w+: )?', line).group(0)
        alike = alike + 1 if begin and begin == word else 1
        word = begin
        if len(line) > WIDTH: line = line[:line.rindex(' ', 0, WIDTH - 3)] + ' ...'
        if alike <= 3: lines.append('...' if alike == 3 else line.rstrip())
    return lines


def main():
    write = sys.argv[1] == '--write'
    path, printed = sys.argv[-2:]
    lesson = open(path, encoding='utf-8').read()
    shown = re.search(r'(?:   Output[^\n]*\n(?:   \S[^\n]*\n)*\n)(.*?\n)(?=\n   [A-Z]|\*/)', lesson, re.S)
    lines = wanted(open(printed, encoding='utf-8').read())
    if write:
        open(path, 'w', encoding='utf-8').write(
            '%s%s\n%s' % (lesson[:shown.start(1)], '\n'.join(lines), lesson[shown.end(1):]))
        return 0
    in_head = shown.group(1).rstrip('\n').split('\n')
    for pair in zip(in_head + ['the end'], lines + ['the end']):
        if pair[0] != pair[1]: return print('%s: the head shows\n%s\nand printed was\n%s' % (path, *pair)) or 1
    return 0


sys.exit(main())
