#!/bin/bash
# The lessons on the simulated runtime and its model of time, as "make -C examples pretend" runs them.
# All of them run; and those about streams print for three seeds and in two runs the same bytes, those
# of examples/expected, which the comments at their heads show, too.
#   pretend.sh FOLDER    to build in
cd "$(dirname "$0")" || exit 1
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd ../examples || exit 1
export LC_ALL=C
passed=0 failed=0

pass() { passed=$((passed + 1)); }
fail() { # NAME LOG
  printf 'FAILED %s\n%s\n' "$1" "$(tail -n 20 "$2" | sed 's/^/    /')"
  failed=$((failed + 1))
}
lesson() { make -s IN="$folder" "pretend-$1" > "$folder/log" 2>&1; } # NAME
same() { # NAME TITLE
  if lesson "$1" && diff "expected/$1-pretend.txt" "$folder/$1.out" > "$folder/log"; then pass
  else fail "$1 as expected, $2" "$folder/log"
  fi
}

for name in [0-9]*.c; do
  name=${name%.c}
  if ! lesson "$name"; then fail "pretend-$name" "$folder/log"; continue; fi
  pass
  if grep -v '^cc ' "$folder/log" | head -n 1 | grep -q "times are a model's"; then pass
  else fail "the first line of pretend-$name" "$folder/log"
  fi
done
# Of six timelines the head shows some lines, in their order.
not_printed() {
  sed -n '/^   Output of make/,/^   Try/s/^       //p' 11_timeline.c | grep -v '\.\.\.$' > "$folder/shown"
  if [ ! -s "$folder/shown" ]; then echo "the head shows nothing"; fi
  diff "$folder/shown" expected/11_timeline-pretend.txt | grep '^<'
}
for seed in 1 2 3 1; do SIM_SEED=$seed same 11_timeline "seed $seed"; done
if not_printed > "$folder/log"; then fail "what the head of 11_timeline.c shows" "$folder/log"; else pass; fi
if make -s IN="$folder" "$folder/timeline.txt" > "$folder/log" 2>&1 &&
    diff pictures/timeline-pretend.txt "$folder/timeline.txt" > "$folder/log"; then pass
elif command -v python3 > /dev/null; then fail "the picture of lesson 06: make -C examples pictures" "$folder/log"
else echo "skipped: the picture of lesson 06: no python3"
fi
# Of others it shows what differs on pretend GPUs; a line that ends with " ..." is the begin of one.
head_differs() { # NAME
  local line
  sed -n '/^   .*(make -C examples pretend-/,/^   [OT]/s/^       //p' "$1.c" | sed 's/ \.\.\.$//' > "$folder/shown"
  sed 's/ *$//' "$folder/$1.out" > "$folder/printed"
  if [ ! -s "$folder/shown" ]; then echo "the head shows nothing"; fi > "$folder/log"
  while IFS= read -r line; do
    if ! grep -qF -- "$line" "$folder/printed"; then echo "not printed: $line"; fi
  done < "$folder/shown" >> "$folder/log"
  [ -s "$folder/log" ]
}
for name in 03_copies 13_several_devices 14_model 17_when_streams_help 18_troubleshooting 19_where_the_gpu_loses; do
  if head_differs $name; then fail "what the head of $name.c shows" "$folder/log"; else pass; fi
done
# Where it names the processor, too, what differs between machines is left out.
for name in 10_cpu_vs_gpu 13_several_devices 19_where_the_gpu_loses; do
  sed -E -f expected/blank.sed "$folder/$name.out" > "$folder/printed"
  if diff "expected/$name-pretend.txt" "$folder/printed" > "$folder/log"; then pass
  else fail "$name as expected" "$folder/log"
  fi
done
for name in 03_copies 14_model 17_when_streams_help 18_troubleshooting; do
  for seed in 1 2; do SIM_SEED=$seed same $name "seed $seed"; done
done
for name in 05_async_order 06_streams 07_three_cka; do
  for seed in 1 2 3 1; do SIM_SEED=$seed same $name "seed $seed"; done
  if ! command -v python3 > /dev/null; then echo "skipped: the head of $name.c: no python3"
  elif python3 ../test/heads.py $name.c expected/$name-pretend.txt > "$folder/log" 2>&1; then pass
  else fail "what the head of $name.c shows" "$folder/log"
  fi
done
# SIM_RACES hides what the simulator says of lesson 07's races; there must not be more.
if (cd .. && SIM_CLOCK=1 "$folder/07_three_cka" --device cuda --without-races) > "$folder/log" 2>&1; then pass
else fail "07_three_cka without its races" "$folder/log"
fi
echo "pretend: $passed passed, $failed failed"
[ $failed -eq 0 ]
