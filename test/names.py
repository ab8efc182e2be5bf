#!/usr/bin/env python3
"""The library's own names: helper macros that are still defined behind the header, and names that both of its files
define, each with a meaning of its own.

    names.py --check TABLE    prints what there is and is not in TABLE, what stands in TABLE and is not there any
                              more, and names that stand in comments alone; the exit status is 1 if anything is
    names.py                  prints a table of all

TABLE has lines "public NAME", a helper that the declarations leave, as public macros are made of it; "macro NAME", one
that the implementation leaves; and "both NAME", a name that the files share on purpose."""
import os
import re
import shutil
import subprocess
import sys

HEADER, KERNELS = 'gputensor.h', 'gputensor_kernels.cu'
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''


def without_comments(text):
    keep = lambda m: re.sub(r'[^\n]', ' ', m.group(0)) if m.group(0)[0] == '/' else '""'
    return re.sub(r'/\*.*?\*/|//[^\n]*|' + STRING, keep, text, flags=re.S)


def macros(before):
    """What gcc has defined behind the header, of names that begin with GT__."""
    out = subprocess.run(['gcc', '-std=gnu99', '-dM', '-E', '-I.', '-x', 'c', '-'], input=before + f'#include "{HEADER}"\n',
                         capture_output=True, text=True, check=True).stdout
    return set(re.findall(r'(?m)^#define ((?:GT|gt)__\w+)', out))


def helpers_left():
    """Helpers that only the implementation, for the default and for all instruction sets, leaves defined."""
    whole = '#define GPUTENSOR_IMPLEMENTATION\n'
    return (macros(whole) | macros('#define GPUTENSOR_DISPATCH\n' + whole) |
            macros('#define GPUTENSOR_PLAIN\n' + whole)) - macros('') - {'GT__IMPLEMENTED'}


def defined(path):
    """Functions with a body, types, macros and enumerators that the file defines."""
    code = without_comments(open(path, encoding='utf-8').read())
    names = set(re.findall(r'(?m)^[ \t]*#[ \t]*define[ \t]+(GT__\w+)', code))
    code = re.sub(r'(?m)^[ \t]*#[^\n]*(?:\\\n[^\n]*)*', '', code)
    names |= set(re.findall(r'\b(?:struct|union|enum)\s+(?:alignas\(\d+\)\s*)?(gt__\w+)\s*(?::[^{;]*)?\{', code))
    names |= set(re.findall(r'\btypedef\b[^;{}]*\b(gt__\w+)\s*;', code)) | set(re.findall(r'\}\s*(gt__\w+)\s*;', code))
    names |= set(re.findall(r'(?m)^[^\s#/}].*?\b(gt__\w+)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\{', code))
    for body in re.findall(r'\benum\b[^{;]*\{([^}]*)\}', code):
        names |= set(re.findall(r'(?:^|,)\s*(GT__\w+)', body))
    return names


def in_comments_alone():
    """Names of which comments tell, and which neither file has, nor makes of a row of a table or with F and L. Those
    that end with _ or NAME stand for several."""
    texts = [open(path, encoding='utf-8').read() for path in (HEADER, KERNELS)]
    code = ' '.join(map(without_comments, texts))
    there = set(re.findall(r'\w+', code)) | set(re.findall(r'"(GPUTENSOR_\w+)"', ' '.join(texts)))  # of the environment
    for row in re.findall(r'\bX\((\w+)', code): there |= {f'gt_{row}', f'GT__OP_{row}'}
    for name in re.findall(r'\b[FL]\((\w+)\)', code): there |= {f'gt__{name}_{end}' for end in ('f32', 'f64', 'i64')}
    told = [word for text in texts for comment in re.findall(r'/\*.*?\*/|//[^\n]*', text, flags=re.S)
            for word in re.findall(r'\b(?:GT|gt|GPUTENSOR)_\w+', comment)]
    return sorted(word for word in set(told) - there if not word.endswith(('_', 'NAME')))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    now = {f'both {name}' for name in defined(HEADER) & defined(KERNELS)}
    if shutil.which('gcc'): now |= {f'macro {name}' for name in helpers_left()} | {f'public {name}' for name in macros('')}
    if sys.argv[1:2] != ['--check']:
        print('\n'.join(sorted(now)))
        return 0
    table = open(os.path.join('test', sys.argv[2]), encoding='utf-8').read().split('\n')
    table = {' '.join(line.split()[:2]) for line in table if line and line[0] != '#'}
    for line in sorted(now - table):
        print(f'{line}: ' + ('is defined by both files' if line[0] == 'b' else 'leaves the header: undefine it'))
    for line in sorted(table - now): print(f'{line}: is not so any more; delete the line from test/{sys.argv[2]}')
    gone = in_comments_alone()
    for name in gone: print(f'{name}: a comment tells of it, but there is no such name')
    return int(now != table or bool(gone))


sys.exit(main())
