#!/bin/bash
# The Debian package of what is in the tree: it builds, lintian finds no error, it holds what
# it should, runs from where it was unpacked, and leaves a clean tree.
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
for tool in dpkg-buildpackage dh lintian git; do
	command -v "$tool" >/dev/null || { echo "1..0 # SKIP $tool is not installed: scripts/deps package"; exit 0; }
done
git rev-parse --git-dir >/dev/null 2>&1 || { echo "1..0 # SKIP no git checkout: what belongs to it is not known"; exit 0; }
# What debhelper would look at here is the user's, not the package's.
unset BUILD BLKTOP SRCDIR CFLAGS LDFLAGS MAKEFLAGS MAKELEVEL DEVELOPER
work=$(mktemp -d "${TMPDIR:-/tmp}/package.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0 failed=0

ok() { # ok NAME COMMAND...
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/out" 2>&1; then
		echo "ok $n - $name"
	else
		failed=1
		echo "not ok $n - $name"
		tail -n 25 "$work/out" | sed 's/^/#   /'
	fi
}
listing() { find . -type f -o -type l | LC_ALL=C sort; }

version=$(sed -n 's/^VERSION := //p' Makefile)
tree=$work/blktop-$version
mkdir "$tree"
git ls-files -z | tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -xf - -C "$tree"
cd "$tree" || exit 1
ok "the changelog has the program's version" [ "$(dpkg-parsechangelog -S Version)" = "$version" ]
listing >"$work/before"
export DEB_BUILD_OPTIONS=parallel=2
ok "dpkg-buildpackage -us -uc -b" dpkg-buildpackage -us -uc -b --no-check-builddeps
deb=$(echo "$work"/blktop_"$version"_*.deb)
ok "lintian finds no error and no warning" lintian --fail-on error,warning "$work"/*.changes
ok "fakeroot is not needed" grep -qx 'Rules-Requires-Root: no' debian/control
ok "unpacks" dpkg-deb -x "$deb" "$work/root"
for file in bin/blktop share/man/man1/blktop.1.gz share/bash-completion/completions/blktop \
	share/zsh/vendor-completions/_blktop share/doc/blktop/copyright share/blktop/demo/trace/kernel/metadata; do
	ok "holds /usr/$file" [ -s "$work/root/usr/$file" ]
done
lib=$(echo "$work"/libblkin0_"$version"_*.deb) dev=$(echo "$work"/libblkin-dev_"$version"_*.deb)
packed() { dpkg-deb -c "$1" | grep -q " ./$2\( -> .*\)\?\$"; }
for file in libblkin.so.0 libblkin-lttng.so.0; do
	ok "libblkin0 holds $file" packed "$lib" "usr/lib/[^/]*/$file"
done
for file in include/blkin.h include/ztracer.hpp 'lib/[^/]*/libblkin.so' 'lib/[^/]*/pkgconfig/blkin.pc'; do
	ok "libblkin-dev holds $file" packed "$dev" "usr/$file"
done
ok "blktop does not depend on them" sh -c "! dpkg-deb -f '$deb' Depends | grep -q 'blkin\|lttng-ust'"
ok "holds nothing outside of /usr" [ "$(ls "$work/root")" = usr ]
program=$work/root/usr/bin/blktop
ok "says its version" sh -c "'$program' --version | grep -qx 'blktop $version'"
ok "reads the demo that it brings" sh -c "'$program' -b --view traces --format csv '$work/root/usr/share/blktop/demo/trace' | grep -q ,thumbnail,"
ok "looks for it in /usr/share" grep -q /usr/share/blktop "$program"
ok "debian/rules clean" debian/rules clean
listing >"$work/after"
ok "the tree is clean then" diff "$work/before" "$work/after"
echo "1..$n"
exit $failed
