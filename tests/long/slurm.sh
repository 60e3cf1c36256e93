#!/bin/bash
# scripts/blktop-slurm with the real Slurm: munged, slurmctld and two slurmd on loopback, with directories of their own. A node is
# killed in the middle and comes back; the result prints what the trace prints.
# shellcheck disable=SC2016,SC2034,SC2317 # a script is written; poll.sh reads most_seconds; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-build}/blktop}")
export BLKTOP
PATH=$PATH:/usr/sbin
archives=$PWD/tests/traces/rotation/trace/archives
for program in munged slurmctld slurmd sbatch; do
	if ! command -v "$program" >/dev/null; then
		echo "1..0 # SKIP $program is not installed (slurm-wlm, munge)"
		exit 0
	fi
done
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP slurmd needs root"
	exit 0
fi
work=$(mktemp -d /tmp/blktop-slurm.XXXXXX)
n=0 failed=0
. tests/lib/poll.sh
most_seconds=60
result() { # result STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		tail -n 5 "$work"/*.log "$work"/log/* "$work"/out "$work"/out.blkslice.parts/log/* 2>/dev/null | sed 's/^/# /'
	fi
}
pids=''
finish() {
	scancel --state=PENDING --state=RUNNING --user root 2>/dev/null
	# shellcheck disable=SC2086 # several
	kill $pids 2>/dev/null
	wait
	rm -rf "$work"
}
trap finish EXIT

chmod 755 "$work"
mkdir "$work/munge" "$work/state" "$work/a" "$work/b"
chmod 700 "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=1 count=1024 2>/dev/null
chmod 400 "$work/munge/key"
munged --foreground --force --key-file "$work/munge/key" --socket "$work/munge.socket" --pid-file "$work/munge/pid" \
	--log-file "$work/munge/log" --seed-file "$work/munge/seed" >"$work/munged.log" 2>&1 &
pids=$!
cat >"$work/slurm.conf" <<EOF
ClusterName=blktop
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=16817
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdSpoolDir=$work/%n
SlurmdPidFile=$work/%n.pid
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=defer,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MinJobAge=300
NodeName=a NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16818 CPUs=1 State=UNKNOWN
NodeName=b NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16819 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=a,b Default=YES MaxTime=10 State=UP
EOF
export SLURM_CONF=$work/slurm.conf
start_node() { # start_node NAME
	slurmd -D -N "$1" >>"$work/node-$1.log" 2>&1 &
	pids="$pids $!"
	eval "node_$1=$!"
}
is_munged() { [ -S "$work/munge.socket" ]; }
until_true is_munged
slurmctld -D >>"$work/ctld.log" 2>&1 &
pids="$pids $!"
start_node a
start_node b
are_idle() { [ "$(sinfo -h -N -o %T 2>/dev/null | grep -c '^idle')" = 2 ]; }
until_true are_idle
result $? "two nodes are there"
[ "$failed" = 0 ] || { sinfo -N -l | sed 's/^/# /'; echo "1..$n"; exit 1; }

# A program that takes some time for a chunk.
printf '#!/bin/sh\n[ "$1" != map ] || sleep 2\nexec %s "$@"\n' "$BLKTOP" >"$work/slow"
chmod 755 "$work/slow"
BLKTOP=$work/slow scripts/blktop-slurm --fan-in 2 -o "$work/out.blkslice" "$archives" >"$work/out" 2>&1
result $? "jobs are submitted"
is_mapped() { [ -n "$(ls -A "$work/out.blkslice.parts/0" 2>/dev/null)" ]; }
until_true is_mapped
result $? "chunks are mapped"
# shellcheck disable=SC2154 # set by eval
pkill -9 -P "$node_b"
kill -9 "$node_b"
is_down() { sinfo -h -n b -o %T | grep -q 'down\|unk'; }
until_true is_down
result $? "a node is killed, and Slurm misses it"
start_node b
is_written() { [ -s "$work/out.blkslice" ]; }
most_seconds=120
until_true is_written
result $? "it comes back: the jobs are run to their end"
for view in events spans processes; do
	"$BLKTOP" -b --utc --view "$view" --format csv "$work/out.blkslice" >"$work/got" 2>&1
	"$BLKTOP" -b --utc --view "$view" --format csv "$(dirname "$archives")" 2>&1 | cmp -s - "$work/got"
	result $? "view $view is that of the trace"
done
echo "1..$n"
exit "$failed"
