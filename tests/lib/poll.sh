# Waiting in shell tests: by looking again and again, at first often, later five times a second. Source it.
# shellcheck shell=bash

# wait_ms MILLISECONDS: without a process, as they are what waiting costs
exec {never}<> <(:)
wait_ms() {
	local seconds
	printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	read -rt "$seconds" -u "$never" || :
}

# until_true COMMAND...: within $most_seconds (20); once a test failed there is no hurry to wait
until_true() {
	local end=$((SECONDS + (failed ? 5 : ${most_seconds:-20}))) ms=20
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		wait_ms $ms
		ms=$((ms < 150 ? ms * 3 / 2 : 200))
	done
}
