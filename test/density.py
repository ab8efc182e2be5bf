#!/usr/bin/env python3
"""How dense the library's two files are, section by section and function by function.

    density.py                  prints a table of all sections, and of all functions beyond a limit
    density.py --check TABLE    prints what breaks a limit and is not in TABLE, and what stands in TABLE and breaks
                                none; the exit status is 1 if anything does
    density.py --shrink TABLE   lowers the figures of TABLE to what they are now, and deletes what breaks no limit

TABLE has lines as they are printed, and only shrinks. Tokens are identifiers, numbers, operators and punctuation
outside comments; a string is one token. A section begins at a line "/* ---- >>name". Lines of one or two tokens do
not count for its average; in the declarations, above the implementation, only columns count. A function whose first
line has a comment with the word "unrolled" is a list that stands for an unrolled loop, and is not limited. The text
is to be as clang-format leaves it, which is looked at where its version FORMATTER is installed: others differ."""
import math
import os
import re
import shutil
import subprocess
import sys

FILES = {'gputensor.h': 90000, 'gputensor_kernels.cu': 44000}  # and their tokens, at most
FORMATTER = 14
# Of a section: tokens a line on average; lines over 32 tokens; lines over 100 columns; statements with several
# assignments or ?:. Of a function: decisions (if, for, while, case, ?:, &&, ||); lines; tokens.
LIMITS = {'section': (13.5, 0, 0, 0), 'function': (15, 40, 400)}
WORDS = {'section': ('tokens a line', 'lines over 32 tokens', 'lines over 100 columns', 'chained statements'),
         'function': ('decisions', 'lines', 'tokens'), 'file': ('tokens', )}

STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
TOKEN = re.compile(STRING + r'|[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|[^\s\w\\]')
DECISION = re.compile(r'\b(?:if|for|while|case)\b|\?|&&|\|\|')
ASSIGNMENT = re.compile(r'(?<![=!<>])=(?!=)')
NESTED = r'\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)'  # parentheses, three deep
HEAD = re.compile(r'([A-Za-z_][\w#]*)\s*' + NESTED + r'\s*(?:const|->\s*\w+)?$')
FOR_HEAD = re.compile(r'\bfor\s*' + NESTED)
DECLARATION = re.compile(r'\s*(?:static |const |constexpr |enum |typedef |template |#)|'
                         r'\s*[A-Za-z_]\w*(?:\s*<[^;]*>)?[\s*&]+[A-Za-z_]\w*(?:\[[^\]]*\])*\s*(?:=|,)')
DIRECTIVE = re.compile(r'(?m)^[ \t]*#(?!\s*define)[^\n]*(?:\\\n[^\n]*)*')


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group(0))


def without_comments(text):
    keep = lambda m: blank(m) if m.group(0)[0] == '/' else m.group(0)
    return re.sub(r'/\*.*?\*/|//[^\n]*|' + STRING, keep, text, flags=re.S)


def flat(code):
    """Without strings, continuation marks and preprocessor lines that define no macro."""
    code = re.sub(r'\\\n', ' \n', DIRECTIVE.sub(blank, code))
    return re.sub(STRING, lambda m: '_' * len(m.group(0)), code)


def function_name(head, outside):
    """The name, if `head`, the text before an opening brace, begins a function."""
    match = HEAD.search(head)
    if not outside or not match or '=' in head.split('(')[0]: return None
    return None if match.group(1) in ('if', 'for', 'while', 'switch', 'sizeof', '__attribute__') else match.group(1)


def functions(code):
    """(name, first line, (decisions, lines, tokens)) of each function body; those in macros count too."""
    found, stack, last, line = [], [], 0, 1
    for i, c in enumerate(code):
        if c == '\n': line += 1
        elif c == '{':
            name = function_name(' '.join(code[last:i].split()), not any(stack))
            stack.append((name, line, i) if name else None)
            last = i + 1
        elif c == '}':
            top = stack.pop() if stack else None
            if top:
                body = code[top[2]:i]
                size = len(DECISION.findall(body)), line - top[1] + 1, len(TOKEN.findall(body))
                found.append((top[0], top[1], size))
            last = i + 1
        elif c == ';': last = i + 1
    return found


def chained(code):
    """The lines of statements with several ?: or several assignments."""
    found, line = [], 1
    for part in re.split(r'([;{}])', FOR_HEAD.sub(blank, code)):
        assigns = 0 if DECLARATION.match(part) else len(ASSIGNMENT.findall(part))
        if part.count('?') > 1 or assigns > 1: found.append(line + part[:len(part) - len(part.lstrip())].count('\n'))
        line += part.count('\n')
    return found


def declarations(lines):
    """The number of lines above the implementation."""
    return next((i for i, l in enumerate(lines) if re.match('#if.*GPUTENSOR_IMPLEMENTATION', l)), 0)


def measure(path):
    """{(kind, name): figures} of the file, of all its sections, and of the functions beyond a limit."""
    text = open(path, encoding='utf-8').read()
    raw, code = text.split('\n'), without_comments(text)
    plain, first = flat(code), declarations(text.split('\n'))
    tokens = [len(TOKEN.findall(l)) for l in code.split('\n')]
    result = {('file', 'all'): (sum(tokens), )}
    marks = [(i, m.group(1)) for i, l in enumerate(raw) if (m := re.match(r'/\* ---- >>([a-z0-9-]+)', l))]
    chains = [n for n in chained(plain) if n > first]
    for (begin, name), (end, _) in zip([(0, 'head')] + marks, marks + [(len(raw), '')]):
        counts = [n for n in tokens[begin:end] if n > 2 and begin >= first]
        mean = math.ceil(10 * sum(counts) / max(1, len(counts))) / 10
        result['section', name] = (mean, sum(n > 32 for n in counts), sum(len(l) > 100 for l in raw[begin:end]),
                                   sum(begin < n <= end for n in chains))
    for name, line, size in functions(plain):
        if 'unrolled' in raw[line - 1] or not beyond(size, LIMITS['function']): continue
        have = result.get(('function', name), size)  # several forms of one: the largest of each figure
        result['function', name] = tuple(map(max, have, size))
    return result


def beyond(figures, limits):
    return any(f > l for f, l in zip(figures, limits))


def limits_of(path, kind):
    return (FILES[path], ) if kind == 'file' else LIMITS[kind]


def read_table(path):
    """The lines of comment, and {(file, kind, name): figures}."""
    remarks, table = [], {}
    for line in open(path, encoding='utf-8'):
        words = line.split()
        if line.startswith('#'): remarks.append(line)
        elif len(words) > 3: table[tuple(words[:3])] = tuple(float(w) for w in words[3:])
    return remarks, table


def unformatted(path):
    """A complaint if clang-format would change the file."""
    command = next((c for c in ('clang-format', f'clang-format-{FORMATTER}') if shutil.which(c)), None)
    version = command and re.search(r'version (\d+)', subprocess.run([command, '--version'], capture_output=True, text=True).stdout)
    if not version or int(version.group(1)) != FORMATTER: return None
    after = subprocess.run([command, '--style=file', path], capture_output=True, text=True).stdout.split('\n')
    before = open(path, encoding='utf-8').read().split('\n')
    if after == before: return None
    first = next((i for i, (a, b) in enumerate(zip(after, before), 1) if a != b), len(after))
    return f'{path}:{first}: clang-format changes the file from here on'


def check(now, table):
    """Prints what is wrong; returns whether anything is."""
    wrong = []
    for key, figures in now.items():
        path, kind, name = key
        limits = limits_of(path, kind)
        allowed = tuple(map(max, limits, table.get(key, limits)))
        wrong += [f'{path}: {kind} {name}: {figure:g} {word}, {most:g} allowed'
                  for figure, most, word in zip(figures, allowed, WORDS[kind]) if figure > most]
    for key in table:
        if key not in now or not beyond(now[key], limits_of(*key[:2])):
            wrong.append(f'{" ".join(key)}: within the limits; delete its line from the table')
    wrong += [complaint for path in FILES if (complaint := unformatted(path))]
    print('\n'.join(wrong), end='\n' if wrong else '')
    return bool(wrong)


def shrink(path, now):
    remarks, table = read_table(path)
    with open(path, 'w', encoding='utf-8') as out:
        out.writelines(remarks)
        for key, figures in table.items():
            if key not in now or not beyond(now[key], limits_of(*key[:2])): continue
            print(*key, *(f'{min(pair):g}' for pair in zip(figures, now[key])), file=out)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    now = {(path, *key): figures for path in FILES for key, figures in measure(path).items()}
    if len(sys.argv) == 3: table = os.path.join('test', sys.argv[2])
    if sys.argv[1:2] == ['--check']: return check(now, read_table(table)[1])
    if sys.argv[1:2] == ['--shrink']: return shrink(table, now)
    for key, figures in now.items(): print(*key, *(f'{f:g}' for f in figures))


sys.exit(main())
