#!/usr/bin/env python3
"""How dense the library's two files are, section by section and function by function.

    density.py                 prints a table of all sections, and of all functions beyond a limit
    density.py --check TABLE   prints what is denser than a limit and than its entry in TABLE, a table
                               printed before; the exit status is 1 if anything is

Tokens are identifiers, numbers, operators and punctuation outside comments; a string is one token. A section
begins at a line "/* ---- >>name". Lines of one or two tokens do not count for the average. A function whose first
line has a comment with the word "unrolled" is a list that stands for an unrolled loop, and is not limited."""
import os
import re
import sys

FILES = ('gputensor.h', 'gputensor_kernels.cu')
# Of a section: tokens a line on average; lines over 32 tokens; lines over 100 columns; statements with several
# assignments or ?:. Of a function: decisions (if, for, while, case, ?:, &&, ||); lines; tokens.
SECTION_LIMITS = (13.5, 0, 0, 0)
FUNCTION_LIMITS = (15, 40, 400)
SECTION_WORDS = ('tokens a line', 'lines over 32 tokens', 'lines over 100 columns', 'chained statements')
FUNCTION_WORDS = ('decisions', 'lines', 'tokens')

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


def measure(path):
    """{(kind, name): figures} of all sections, and of the functions beyond a limit."""
    text = open(path, encoding='utf-8').read()
    raw, code = text.split('\n'), without_comments(text)
    lines, plain, result = code.split('\n'), flat(code), {}
    marks = [(i, m.group(1)) for i, l in enumerate(raw) if (m := re.match(r'/\* ---- >>([a-z0-9-]+)', l))]
    chains = chained(plain)
    for (begin, name), (end, _) in zip([(0, 'head')] + marks, marks + [(len(raw), '')]):
        counts = [n for n in (len(TOKEN.findall(l)) for l in lines[begin:end]) if n > 2]
        result['section', name] = (round(sum(counts) / max(1, len(counts)), 1), sum(n > 32 for n in counts),
                                   sum(len(l) > 100 for l in raw[begin:end]), sum(begin < n <= end for n in chains))
    for name, line, size in functions(plain):
        if 'unrolled' in raw[line - 1] or not beyond(size, FUNCTION_LIMITS): continue
        have = result.get(('function', name), size)  # several forms of one: the largest of each figure
        result['function', name] = tuple(map(max, have, size))
    return result


def beyond(figures, limits):
    return any(f > l for f, l in zip(figures, limits))


def read_table(path):
    table = {}
    for line in open(path, encoding='utf-8'):
        words = line.split()
        if len(words) > 3 and words[0] in FILES: table[tuple(words[:3])] = tuple(float(w) for w in words[3:])
    return table


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    check, bad = '--check' in sys.argv, 0
    table = read_table(os.path.join('test', sys.argv[-1])) if check else {}
    for path in FILES:
        for (kind, name), figures in measure(path).items():
            if not check:
                print(path, kind, name, *figures)
                continue
            limits = SECTION_LIMITS if kind == 'section' else FUNCTION_LIMITS
            words = SECTION_WORDS if kind == 'section' else FUNCTION_WORDS
            allowed = tuple(map(max, limits, table.get((path, kind, name), limits)))
            for figure, most, word in zip(figures, allowed, words):
                if figure > most:
                    print(f'{path}: {kind} {name}: {figure:g} {word}, {most:g} allowed')
                    bad = 1
    return bad


sys.exit(main())
