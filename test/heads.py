#!/usr/bin/env python3
"""heads.py LESSON PRINTED: is what the comment at the lesson's head shows behind "Output of make" what it printed? A line
that ends with " ..." is the begin of one, "..." stands for some. Prints what is not, and the exit status is then 1."""
import sys

lesson, printed = (open(path, encoding='utf-8').read() for path in sys.argv[1:3])
head = lesson.split('*/')[0]
shown = head[head.index('Output of make'):].split('\n\n', 1)[1].split('\n   Streams win')[0].rstrip('\n').split('\n')
lines, at, some = printed.rstrip('\n').split('\n'), 0, False
wrong = []
for line in shown:
    if line == '...': some = True
    if line == '...': continue
    fits = (lambda x: x.startswith(line[:-4])) if line.endswith(' ...') else (lambda x: x.rstrip() == line)
    while some and at < len(lines) and not fits(lines[at]): at += 1
    some = False
    if at == len(lines) or not fits(lines[at]): wrong.append(line)
    at += 1
if at < len(lines) and not wrong: wrong.append('and behind it, not shown: ' + lines[at])
print('\n'.join(wrong[:3]), end='\n' if wrong else '')
sys.exit(bool(wrong))
