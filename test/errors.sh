#!/bin/sh
# Has every error message of the library been seen? Takes the formats out of the header, makes
# patterns of them, and looks for each among the messages that the test programs have written:
#   sh errors.sh DIRECTORY      (files written with --messages)
cd "$(dirname "$0")" || exit 1
messages=${1:?usage: errors.sh DIRECTORY-OF-MESSAGES}
[ -d "$messages" ] || { echo "errors: no directory $messages"; echo "errors: 0 passed, 1 failed"; exit 1; }
export LC_ALL=C
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Beginnings of formats that no test here can bring about, each with the reason. A line that is not
# the beginning of a format any more is a failure, so that the list stays short.
cat > "$work/exceptions" << 'END'
there is no cuda:%d	needs a GPU
%s: %s%s%s	an error code of the CUDA runtime
%s was lost to an earlier fault	needs a GPU that has failed
native is NULL, the legacy default stream	needs a GPU
the program captures a stream of %s itself	needs a GPU
the graph is of %s, the stream of %s	needs two devices
the events are of %s and %s	needs two devices
the output is on %s, the operands on %s	needs two devices
operand %d %s is on %s, operand %d %s on %s	needs two devices
data is memory of cuda:%d, not of %s	needs a GPU
data is memory of the host, not of %s	needs a GPU
%.500s: the file ends too early	somebody would have to cut the file while it is read
operand %d%s was freed by %s	needs GPUTENSOR_CHECK_HANDLES, as in sim/run.sh sanitized
END

# One line for each call: the first run of string literals among its arguments at depth 1. Messages
# about an expression and about a header stand behind a fixed beginning.
awk '
function emit(name, format) {
  if (format == "" || format == npy) return
  if (name == "gt__bad_text" || name == "what") print "column %d: " format
  else if (name == "GT__NPY_MALFORMED") print "malformed header: " format
  else if (name == "GT__NPY_BAD") print npy format
  else print format
}
function calls(name, opening,    rest, at, depth, c, i, text, inside, done, in_text) {
  rest = all
  while ((at = index(rest, opening)) > 0) {
    rest = substr(rest, at + length(opening))
    depth = 1; text = ""; inside = 0; done = 0; in_text = 0
    for (i = 1; i <= length(rest) && depth > 0; i++) {
      c = substr(rest, i, 1)
      if (in_text) {
        if (c == "\\") { if (depth == 1 && !done) text = text c substr(rest, i + 1, 1); i++; continue }
        if (c == "\"") { in_text = 0; continue }
        if (depth == 1 && !done) text = text c
        continue
      }
      if (c == "\"") { in_text = 1; if (depth == 1) inside = 1; continue }
      if (c == " ") continue
      if (inside) done = 1              # whatever follows a literal but another one ends the format
      if (c == "(") depth++
      if (c == ")") depth--
    }
    emit(name, text)
  }
}
{ sub(/^[ \t]+/, ""); all = all $0 " " }
END {
  npy = "%.500s: "                      # what GT__NPY_BAD begins with
  gsub(/\\ /, "", all)                  # lines of macros that go on
  while (match(all, /\/\*([^*]|\*+[^*\/])*\*+\//))
    all = substr(all, 1, RSTART - 1) " " substr(all, RSTART + RLENGTH)
  calls("gt__fail", "gt__fail(")
  calls("GT__NULL", "GT__NULL(")
  calls("gt__bad_text", "gt__bad_text(")
  calls("what", "snprintf(what, sizeof what, ")
  calls("GT__NPY_MALFORMED", "GT__NPY_MALFORMED(")
  calls("GT__NPY_BAD", "GT__NPY_BAD(")
}' ../gputensor.h | sort -u > "$work/formats"

# A format as an extended regular expression. \001 stands for a conversion while the rest is escaped.
sed -e 's/\\"/"/g' -e 's/\\\\/\\/g' -e 's/%%/\x02/g' \
  -e 's/%[-+ #0-9.*]*\(ll\|l\|z\|h\)\{0,1\}[a-zA-Z]/\x01/g' -e 's/[][\\.^$*+?(){}|]/\\&/g' \
  -e 's/\x01/.*/g' -e 's/\x02/%/g' "$work/formats" > "$work/patterns"
# The function that failed stands before each.
cat "$messages"/* 2> /dev/null | cut -f2- | sed 's/^[A-Za-z_0-9]*: //' | sort -u > "$work/seen"

passed=0
failed=0
miss() { printf '%s\n' "$1"; failed=$((failed + 1)); }
[ -s "$work/seen" ] || miss "no messages in $messages"
[ "$(wc -l < "$work/formats")" -ge 90 ] || miss "too few formats were found in gputensor.h"
tab=$(printf '\t')
# Lines of formats and patterns belong together; read each by its number.
number=0
while IFS= read -r format; do
  number=$((number + 1))
  pattern=$(sed -n "${number}p" "$work/patterns")
  case $format in
    'column %d: '*|'malformed header: '*) ;;
    *) pattern="^$pattern\$" ;;
  esac
  if grep -E -q -e "$pattern" "$work/seen"; then
    passed=$((passed + 1))
    continue
  fi
  excused=
  while IFS=$tab read -r beginning reason; do
    case $format in "$beginning"*) excused=$reason ;; esac
  done < "$work/exceptions"
  [ -n "$excused" ] || miss "never seen: $format"
done < "$work/formats"
while IFS=$tab read -r beginning reason; do
  found=
  while IFS= read -r format; do
    case $format in "$beginning"*) found=1 ;; esac
  done < "$work/formats"
  [ -n "$found" ] || miss "no such message any more: $beginning ($reason)"
done < "$work/exceptions"
echo "errors: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
