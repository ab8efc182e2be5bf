# sed -E -f blank.sed: what a lesson prints, with ~ for what differs between machines and runs.
# The machine.
s/^(\(a \+ b\) \* 0\.5 on ).*,/\1~,/
s/^cpu .*/cpu ~/
/no GPU/!s/(cpu|cuda:[0-9]) \(.*\)$/\1 (~)/
s/[0-9]+ of [0-9]+ are free/~ of ~ are free/
# Of a timeline the first line, and not the sentence below it; no chart of times.
/^a trace of /,/^  one after another/{
  /^a trace of /!d
  s/of .*/of ~/
}
/^ +(most operations|the host waited|copies of ordinary|one kind of work|the calling thread) /d
/^ *([0-9.e+]+ us)? +\|/d
/^ +\+---/d
/^ +10\^1 /d
# What the missing waits of lesson 07 make of its numbers.
/^no waits between/{
  n
  s/streams .*/streams ~/
}
# Lesson 16: its sums depend on the processor, and a GPU makes one line another.
s/checksum [0-9.]+/checksum ~/
/^(no GPU here|2_gpu.diff, on the GPU)/d
# Lesson 20: which process writes first, and how long they take.
s/^process [0-9] of 2: (cpu|cuda:).*, the/process ~ of 2: \1~, the/
s/[0-9]+ % of the time is/~ % of the time is/
# Numbers with the unit of a time or of a rate; what was published is the same everywhere.
/^(published: 4|operations take it 12)/b
s/[0-9][0-9.]* +(ms|s|us|GB\/s|GFLOP\/s|TFLOP\/s|times as fast|tokens a second)( |,|$)/~ \1\2/g
s/efficiency of [0-9]+ %/efficiency of ~ %/
s/(done after) [0-9.]+/\1 ~/
s/added up [0-9]+ terms/added up ~ terms/
s/^[0-9]+ times r/~ times r/
s/10\^[68] random/10^~ random/
# Rows of tables of such numbers: what is in front of them stays.
/^(ordinary|pinned|device|float32) .*->/s/ +[0-9]+\.[0-9]+/ ~/g
/^  (long|short): /s/ +[0-9]+\.[0-9]+/ ~/g
/^(one|four) streams?, /s/ +[0-9]+\.[0-9]+/ ~/g
s/ +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{2} / ~ ~ ~ /
s/ +[0-9]+\.[0-9] %$/ ~ %/
/^  (two operations|one expression)  /s/ +[0-9]+(\.[0-9]+)?/ ~/g
/^[tsGgk] /s/ +(does not win|wins) over .*/ ~/
/~$/!s/^([c1tsGgk] [a-zA-Z ,0-9]+[a-z]) +[0-9].*/\1 ~/
s/^(microseconds of an operation ).*/\1~/
# The widths of columns.
/~/s/ +/ /g
