#!/bin/bash
# The pictures of doc/guide.md are what blktop draws now: 'make pictures' makes them again.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"

ok "scripts/doc-pictures makes pictures" env BLKTOP="$BLKTOP" "$SRCDIR/scripts/doc-pictures" "$work/new"
# How much memory is in use is not the same on each machine.
without_memory() { sed 's/mem [0-9.]*[KM]//' "$1"; }
is_current() { cmp <(without_memory "$SRCDIR/doc/pictures/$1") <(without_memory "$work/new/$1"); }
names() { sed -n 's/^!\[[^]]*\](pictures\/\(.*\))$/\1/p' "$SRCDIR/doc/guide.md" | sort; }
ok "the guide has at least five" [ "$(names | wc -l)" -ge 5 ]
ok "the guide shows all that are made" [ "$(names)" = "$(ls "$work/new")" ]
ok "none is left over" [ "$(ls "$SRCDIR/doc/pictures")" = "$(ls "$work/new")" ]
for name in $(names); do
	ok "$name is well formed" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/new/$name"
	ok "$name is what blktop draws now (make pictures)" is_current "$name"
done
done_testing
