#!/bin/bash
# On a big-endian machine (s390x, under qemu-user): unit tests of slices and of the native reader, slice files of the
# same bytes as here, and the same reports, of traces of both byte orders. blktop is cross-compiled for a root file
# system of Debian, which takes a minute to make, downloads 60 MB, and is removed at the end.
#
#   SUITE     the Debian suite (this system's)
#   TESTS     unit tests, without test- (those below)
#   SEEDS     how many made-up traces (20)
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=$(realpath "${BUILD:-$SRCDIR/build}")
tests=${TESTS:-coder ctf-index ctf-meta ctf-meta2 hist limits-packets live-protocol native native-feed native-feed-many
	native-feed-trouble packets plain reader-corrupt schema slice-file}
seeds=${SEEDS:-20}
machine=s390x-linux-gnu
n=0 failed=0

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}
for command in debootstrap qemu-s390x-static $machine-gcc; do
	command -v "$command" >/dev/null || skip_all "$command is not installed (scripts/deps long)"
done
[ "$(id -u)" = 0 ] || skip_all "needs root, for debootstrap"
for program in blktop tools/print-events; do
	[ -x "$BUILD/$program" ] || skip_all "$BUILD/$program is not built"
done

# Not below /tmp, which may be in memory: a root takes half a gigabyte.
work=$(mktemp -d /var/tmp/big-endian.XXXXXX)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP

check() { # check WHAT STATUS [FILE]: a result; FILE has what is wrong
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $1"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1"
		head -n 20 "${3:-/dev/null}" | cut -c 1-300 | sed 's/^/# /'
	fi
}

# Nothing in it is ever configured or run but blktop: unpacked packages are enough.
make_root() {
	local mirror suite package
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk '$2 ~ /^[a-z]+$/ && $3 == "main" && $1 !~ /security/ { print $1; exit }')
	suite=${SUITE:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
	timeout 1200 debootstrap --foreign --variant=minbase --arch=s390x --include=libglib2.0-dev,`
		`libncurses-dev,libbabeltrace2-dev,liblttng-ctl-dev,libpopt-dev,libseccomp-dev,libsoup-3.0-dev,libzstd-dev \
		"$suite" "$root" "${mirror:-http://deb.debian.org/debian}" || return
	for package in "$root"/var/cache/apt/archives/*.deb; do
		dpkg-deb -x "$package" "$root" || return
	done
}

# A program of s390x as a command.
command_of() { # command_of PROGRAM FILE
	printf '#!/bin/sh\nexec qemu-s390x-static -L "%s" "%s" "$@"\n' "$root" "$1" >"$2" && chmod +x "$2"
}

build_there() { # build_there TARGET...
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u PKG_CONFIG_PATH -u PACKAGES PKG_CONFIG_SYSROOT_DIR="$root" \
		PKG_CONFIG_LIBDIR="$root/usr/lib/$machine/pkgconfig:$root/usr/share/pkgconfig" \
		make -C "$SRCDIR" -j"$(nproc)" BUILD="$work/build" CC="$machine-gcc --sysroot=$root" CFLAGS=-O2 "$@"
}

run_unit_tests() {
	local name
	for name in $tests; do
		command_of "$work/build/tests/test-$name" "$work/test-$name"
		timeout 1500 "$work/test-$name" </dev/null >"$work/out" 2>&1
		status=$?
		check "test-$name: $(grep -c '^ok' "$work/out") results" $status "$work/out"
	done
}

# Status and output of a program on both machines. What differs goes to $work/wrong.
same() { # same WHAT PROGRAM ARGUMENT...
	local what=$1 program=$2 here there
	shift 2
	timeout 600 "$work/here/$program" "$@" </dev/null >"$work/out.here" 2>"$work/err.here"
	here=$?
	timeout 600 "$work/there/$program" "$@" </dev/null >"$work/out.there" 2>"$work/err.there"
	there=$?
	compared=$((compared + 1))
	[ $here = $there ] && cmp "$work/out.here" "$work/out.there" >"$work/differ" 2>&1 && return
	echo "$what: status $here here, $there there: $(cat "$work/differ" "$work/err.here" "$work/err.there")" >>"$work/wrong"
}

begin() {
	compared=0
	: >"$work/wrong"
}
end() { # end WHAT
	[ ! -s "$work/wrong" ] && [ $compared -gt 0 ]
	check "$1 ($compared)" $? "$work/wrong"
}

# Made-up traces of both byte orders, packed and aligned, with all kinds of fields.
compare_readers() {
	local seed
	begin
	for ((seed = 1; seed <= seeds; seed++)); do
		python3 "$SRCDIR/tests/truth/made_trace.py" "$seed" "$work/made-$seed" || check "made-up trace $seed" 1
		same "trace $seed" print-events "$work/made-$seed"
		same "trace $seed" blktop -b --view events --format csv "$work/made-$seed"
	done
	end "print-events and counts of $seeds made-up traces"
	check "of these, some are big-endian" "$(grep -qa $'^\tbyte_order = be;' -r "$work"/made-*/; echo $?)"
}

# One of them cannot be read.
recordings() {
	local dir
	for dir in "$SRCDIR"/tests/traces/* "$SRCDIR"/tests/traces/ctf2/*; do
		case $dir in
		*/ctf2 | */ust-without-stream-class) ;;
		*) [ -z "$(find "$dir" -name metadata -print -quit)" ] || echo "${dir#"$SRCDIR"/tests/traces/}" ;;
		esac
	done
}

# A slice file is the same wherever it is made, and opens on the other machine with the same reports.
compare_slices() {
	local name view at
	begin
	for name in $(recordings); do
		for at in "0% 60%" "60% 100%"; do
			for side in here there; do
				"$work/$side/blktop" map --force --from "${at% *}" --to "${at#* }" "$SRCDIR/tests/traces/$name" \
					-o "$work/$side.blkslice" </dev/null >"$work/map" 2>&1 || cat "$work/map" >>"$work/wrong"
			done
			cmp "$work/here.blkslice" "$work/there.blkslice" >>"$work/wrong" 2>&1
			compared=$((compared + 1))
			mv "$work/here.blkslice" "$work/here-${at% *}.blkslice"
			mv "$work/there.blkslice" "$work/there-${at% *}.blkslice"
		done
		# one half is of each machine
		same "$name" blktop reduce --force "$work/here-0%.blkslice" "$work/there-60%.blkslice" -o "$work/both.blkslice"
		for view in processes syscalls files cpus scheduler spans losses; do
			same "$name: $view" blktop -b --view "$view" --format csv "$work/both.blkslice"
		done
	done
	end "slice files and their reports"
}

compare_logs() {
	local name
	begin
	for name in $(recordings); do
		same "$name" blktop log --to 10% "$SRCDIR/tests/traces/$name"
	done
	end "logs of the beginning of recordings"
}

if ! make_root >"$work/log" 2>&1; then
	tail -n 3 "$work/log" >&2
	skip_all "no root file system of s390x: $(tail -n 1 "$work/log")"
fi
mkdir "$work/here" "$work/there"
targets=()
for test in $tests; do
	targets+=("$work/build/tests/test-$test")
done
build_there all "$work/build/tools/print-events" "${targets[@]}" >"$work/log" 2>&1
status=$?
check "blktop and its tests are built for s390x" $status "$work/log"
if [ $status = 0 ]; then
	ln -s "$BUILD/blktop" "$BUILD/tools/print-events" "$work/here"
	command_of "$work/build/blktop" "$work/there/blktop"
	command_of "$work/build/tools/print-events" "$work/there/print-events"
	compare_readers
	compare_slices
	compare_logs
	BLKTOP=$work/there/blktop timeout 1500 "$SRCDIR/tests/truth/machines.py" </dev/null >"$work/out" 2>&1
	status=$?
	check "system calls of all machines: $(grep -c '^ok' "$work/out") results" $status "$work/out"
	run_unit_tests
fi
echo "1..$n"
exit $((failed > 0))
