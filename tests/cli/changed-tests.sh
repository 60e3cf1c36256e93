#!/bin/bash
# scripts/changed-tests: which unit tests make check-quick runs for what changed.
. "$(dirname "$0")/lib.sh"
if ! command -v git >/dev/null; then
	echo "1..0 # SKIP git is not installed"
	exit 0
fi
repo=$work/repo
mkdir -p "$repo/scripts" "$repo/src/base" "$repo/tests/unit" "$repo/tests/lib"
cp "$SRCDIR/scripts/changed-tests" "$repo/scripts/"
cd "$repo" || exit 1
put() { # put FILE TEXT
	printf '%s\n' "$2" >"$1"
}
for module in hist text json; do
	put src/base/$module.h "int $module;"
	put src/base/$module.c "int $module;"
	put tests/unit/test-$module.c "#include \"base/$module.h\""
done
put src/base/text_part.c "int part;"
put tests/unit/test-uses.c '#include "base/text.h"'
put tests/unit/test-slow.c '#include "base/text.h"'
put tests/lib/report.h "int report;"
put tests/lib/report.c "int report;"
put tests/unit/test-reports.c '#include "lib/report.h"'
put README x
git() { command git -c user.name=test -c user.email=test@localhost -c init.defaultBranch=main "$@" >/dev/null 2>&1; }
git init && git add -A && git commit -m begin && git checkout -b work

are() { # are WHAT NAMES ARGUMENT...: the tests that are printed
	local what=$1 names=$2
	shift 2
	BUILD=b SLOW=slow scripts/changed-tests "$@" >"$work/out" 2>"$work/err"
	code=$?
	ok "$what" [ "$code $(sed 's,^b/tests/test-,,' "$work/out" | paste -sd ' ')" = "0 $names" ]
}
are "nothing changed" ""
put README y
are "nothing that a unit test tests" ""
put src/base/hist.c "int other;"
are "the test of a changed module" hist
git commit -am hist
are "also once it is committed" hist
are "but not since then" "" HEAD
put src/base/text_part.c "int other;"
are "tests of the header of which a part changed, but not the slow one" "hist text uses"
put tests/unit/test-slow.c "int slow;"
are "the slow one, when it changed itself" "hist slow text uses"
git commit -am more
put tests/lib/report.c "int other;"
put tests/unit/test-new.c "int new;"
are "tests that use what tests share; a new one" "new reports" HEAD
mkdir -p src/views
for name in views screens missing-events; do
	put tests/unit/test-$name.c "int $name;"
done
put src/views/files.c "static int helper;"
git add -A && git commit -am views
put src/views/files.c "const struct view view_files;"
are "a view, which has no header: the tests of all views" "missing-events screens views" HEAD
git commit -am view
rm tests/unit/test-json.c src/base/json.c
are "what is gone has no test" "" HEAD
done_testing
