#!/usr/bin/env python3
"""The library's own names: helper macros that are still defined behind the header, and names that both of its files
define, each with a meaning of its own.

    names.py --check TABLE    prints what there is and is not in TABLE, and what stands in TABLE and is not there any
                              more; the exit status is 1 if anything is
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
    return int(now != table)


sys.exit(main())
