#!/bin/bash
# What the screen may write, and what it says where it may not.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$(cd "$(dirname "$0")/../traces/ctf2/demo/trace" && pwd)
BLKTOP=$(realpath "$BLKTOP")
mkdir "$work/here" "$work/temporary"

typed() { # typed PATH: answers the prompt for a file name
	keys C-u
	keys -l "$1"
	keys Enter
}
shell "TMPDIR=$work/temporary" "HOME=$work" "XDG_STATE_HOME=$work/state" "XDG_CONFIG_HOME=$work/config"
keys "cd here" Enter
run "$BLKTOP $demo"
result $? "the screen comes"
keys F7
wait_for "Facts"
keys G
wait_for "system calls are"
result $? "F7 says how it is isolated"
keys Escape
keys s
wait_for "save as"
result $? "s asks where to"
typed "$work/here/table.csv"
wait_for "wrote"
result $? "a file below the directory that it was started in"
keys s
typed "$work/temporary/table.csv"
until_true test -s "$work/temporary/table.csv"
result $? "a file in the directory for temporary ones"
if "$BLKTOP" --version | grep -q '^isolation: .*files are filtered'; then
	keys s
	typed "$work/table.csv"
	wait_for "--no-isolation"
	result $? "elsewhere: what to do"
	test ! -e "$work/table.csv"
	result $? "elsewhere: no file"
else
	skip "elsewhere" "the kernel has no Landlock"
fi
keys Escape
keys W
until_true test -s "$work/config/blktop/blktoprc"
result $? "settings are written"
keys Q
given_back 0
result $? "it ends well"
keys "clear; rm -rf $work/config" Enter
run "$BLKTOP --no-isolation $demo"
keys F7
wait_for "Facts"
keys G
wait_for "off (--no-isolation)"
result $? "F7 says that it is not isolated"
keys Escape
keys s
typed "$work/table.csv"
until_true test -s "$work/table.csv"
result $? "--no-isolation: a file anywhere"
keys Q
given_back 0
result $? "it ends well, too"
done_testing
