#!/bin/bash
# What bash offers after some beginnings of a command line.
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
blktop=${BLKTOP:-build/blktop}
[ -x "$blktop" ] || { echo "1..0 # SKIP $blktop is not built"; exit 0; }
. completions/blktop.bash
compopt() { :; } # there is no command line being typed
n=0 failed=0

offers() { # offers WANTED WORD...: completing the last word offers that
	local wanted=$1
	shift
	COMP_WORDS=("$blktop" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_blktop
	n=$((n + 1))
	if printf '%s\n' "${COMPREPLY[@]}" | grep -Fxq -- "$wanted"; then
		echo "ok $n - $*: $wanted"
	else
		failed=1
		echo "not ok $n - $*: $wanted"
		printf '#   %s\n' "${COMPREPLY[@]}"
	fi
}

offers --export-slowest --exp
offers -b -
offers --list-limits --list-l
offers syscalls --view sys
offers syscalls --view = sys
offers spans --list-columns ''
offers duration_ns -b --view spans --filter dur
offers duration_ns -b --view = spans --filter dur
offers tid -b --view syscalls --sort t
offers process --by p
offers cpu --by c
offers call.latency -b --metric call.l
offers errno -b --metric call.latency --by err
offers file,errno -b --metric = call.latency --by file,err
offers operation -b --metric request.latency --where ope
offers tests --thresholds te
offers priority --by pr
offers history --against h
offers trace= --only t
offers auto,seastar --presets auto,sea
offers ros2 --recipe = ro
for format in $("$blktop" --print-options | sed -n 's/^[^\t]*\t--format\t//p' | tr ';' '\n' | sed 's/.*://'); do
	offers "$format" --format "$format"
done
offers folded --format f
offers zipkin --export-slowest 1 --format z
offers perfetto --export-slowest 1 --format p
offers tests/traces tests/tr
offers end --from e
offers babeltrace2 --reader b
offers riscv64 --machine r
offers light --theme l
offers 100ms --step 1
offers warning --loglevel w
offers note --log-level n
offers tests --spool te
offers off --mouse o
offers --slices -j 2 --sl
offers report re
offers report ''
offers tests te
offers duration_ns report --sort du
offers -duration_ns report --sort -du
offers why report --filter w
offers pid,tid -b --view processes --columns pid,t
offers --worst report --wo

# Each word that the program takes first, each view, and each view's first column.
for word in $("$blktop" --print-commands | cut -f 1); do
	offers "$word" "${word%?}"
done
for view in $("$blktop" --list-views | awk '{ print $1 }'); do
	offers "$view" --view "${view%?}"
	column=$("$blktop" --list-columns "$view" | awk 'NR == 1 { print $1 }')
	offers "$column" -b --view "$view" --sort "${column%?}"
done
refuses() { # refuses WORD...: nothing of a subcommand is offered
	COMP_WORDS=("$blktop" "$@") COMP_CWORD=$# COMPREPLY=()
	_blktop
	n=$((n + 1))
	if printf '%s\n' "${COMPREPLY[@]}" | grep -Fxq report; then
		failed=1
		echo "not ok $n - $*: no subcommand"
	else
		echo "ok $n - $*: no subcommand"
	fi
}
offers_nothing() { # offers_nothing WORD...: a value is wanted that is no file
	COMP_WORDS=("$blktop" "$@") COMP_CWORD=$# COMPREPLY=()
	_blktop
	n=$((n + 1))
	if [ ${#COMPREPLY[@]} -gt 0 ]; then
		failed=1
		echo "not ok $n - $*: offers ${COMPREPLY[*]}"
	else
		echo "ok $n - $*: offers nothing"
	fi
}
offers_nothing --perf ''
offers_nothing --memory ''
offers_nothing -j ''
offers_nothing --session te
refuses -b repo
refuses --reader repo

# zsh: what its completion hands to the functions of zsh, which are stubs here.
if command -v zsh >/dev/null; then
	got=$(zsh -f tests/lint/completions.zsh "$blktop" 2>&1)
	for wanted in '--view=[' '--worst=[' '-o+[' '*:trace directory:_blktop_operands' \
		'views: syscalls:' 'columns: duration_ns:' 'columns of report: duration_ns:' 'commands: report:'; do
		n=$((n + 1))
		if grep -Fq -- "$wanted" <<<"$got"; then
			echo "ok $n - zsh: $wanted"
		else
			failed=1
			echo "not ok $n - zsh: $wanted"
			head -n 40 <<<"$got" | sed 's/^/#   /'
		fi
	done
else
	n=$((n + 1))
	echo "ok $n - zsh # SKIP zsh is not installed"
fi
echo "1..$n"
exit $failed
