#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Kernels that have event probes and LTTng's modules: in virtual machines, blktop records the kernel by tracefs while LTTng records the same seconds;
what it knows of files and peers is what LTTng knows, and what the programs did. BLKTOP_GUEST: directories, separated by ':', each with the vmlinuz,
initrd.img and root.img of a Debian with lttng-tools and lttng-modules. Nothing is written to them."""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
WORK = os.path.abspath(tap.BUILD + "/tools/guest-work")
LIMIT = 900             # s: an emulated machine that has not ended by then hangs
RESULT = 1 << 30        # bytes of the disk for results
work = tempfile.mkdtemp(prefix="blktop-guest.")

# Process 1 of the machine: /dev/vdb is this script, /dev/vdc a tar file of blktop with its libraries, /dev/vdd takes the results.
INIT = r"""
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
mount -t proc proc /proc; mountpoint -q /sys || mount -t sysfs sysfs /sys; mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/shm; mount -t tmpfs shm /dev/shm; mount -t tmpfs run /run; mount -t tmpfs tmp /tmp; mount -t tmpfs mnt /mnt
mount -t tracefs tracefs /sys/kernel/tracing
hostname guest; ip link set lo up
mkdir -p /tmp/out /mnt/b; tar -C /mnt/b -xf /dev/vdc
cd /mnt/b; mkdir -p proc sys dev tmp run root/state
mount --rbind /proc proc; mount --rbind /sys sys; mount --rbind /dev dev; mount --bind /tmp tmp
T=/sys/kernel/tracing
uname -r >/tmp/out/uname
export XDG_STATE_HOME=/root/state XDG_CACHE_HOME=/root/cache
blktop() { chroot /mnt/b /blktop -y -b --config none --kernel tracefs "$@"; }
count() { ls $T/instances | grep -c '^blktop-[0-9]*$'; }
recording() { n=0; for i in $T/instances/blktop-*/tracing_on; do [ "$(cat $i 2>/dev/null)" = 1 ] && n=$((n + 1)); done; echo $n; }
wait_for() { i=0; while [ "$($1)" != $2 ] && [ $i -lt 600 ]; do sleep 0.2; i=$((i + 1)); done; }

modprobe lttng-tracer; lttng-sessiond --daemonize
lttng create t --output=/tmp/out/trace; lttng enable-channel -k c --subbuf-size 1M --num-subbuf 16
lttng enable-event -k -c c 'lttng_statedump_*,sched_*,net_dev_queue,net_dev_xmit,net_if_receive_skb'; lttng enable-event -k -c c --syscall --all
lttng add-context -k -c c -t tid -t pid -t procname
lttng start
for view in peers files; do
    blktop --view $view --format csv >/tmp/out/$view.csv 2>/tmp/out/$view.err &
done
wait_for recording 2
cp $T/dynamic_events /tmp/out/probes
echo 'p:other/kept do_exit' >>$T/dynamic_events
mkdir /tmp/used; chroot /mnt/b /guest-work /tmp/used >/tmp/out/said.json 2>/tmp/out/said.err
shown() { grep -q 7003 /tmp/out/peers.csv && grep -q said.json /tmp/out/files.csv && echo yes; }
wait_for shown yes
sleep 1
kill -TERM $(ls $T/instances | sed -n 's/^blktop-//p')
wait
lttng destroy
cp $T/dynamic_events /tmp/out/probes-after; ls $T/instances >/tmp/out/instances-after

# killed together with its helper: the next run, and --sweep, remove what is left
blktop --view peers >/dev/null 2>/tmp/out/killed.err &
wait_for recording 1
kill -9 $(pidof blktop)
wait
cp $T/dynamic_events /tmp/out/probes-killed
mkdir $T/instances/others; echo 1 >$T/instances/others/events/other/kept/enable
chroot /mnt/b /blktop --sweep >/tmp/out/swept.txt 2>&1
cp $T/dynamic_events /tmp/out/probes-swept; ls $T/instances >/tmp/out/instances-swept; cat $T/instances/others/events/other/kept/enable >/tmp/out/others
tar -C /tmp/out -cf /dev/vdd .
sync; echo o >/proc/sysrq-trigger; sleep 60
"""


def libraries(*programs):
    """The files that programs need, as ldd says."""
    found = set()
    for p in programs:
        for line in subprocess.run(["ldd", p], capture_output=True, text=True, check=True).stdout.splitlines():
            found |= set(re.findall(r"(/\S+) \(0x", line))
    return found


def pack(path):
    with tarfile.open(path, "w") as t:
        for source, name in ((PROGRAM, "blktop"), (WORK, "guest-work")):
            t.add(os.path.realpath(source), name)
        for lib in libraries(PROGRAM, WORK):
            t.add(os.path.realpath(lib), lib.lstrip("/"))


def boot(guest, out):
    """Runs the machine; what it leaves is in the directory `out`."""
    disks = {n: os.path.join(out, n) for n in ("script", "programs", "result")}
    pathlib.Path(disks["script"]).write_text(INIT, encoding="utf-8")
    pack(disks["programs"])
    for name, size in (("script", 1 << 16), ("programs", (os.path.getsize(disks["programs"]) | 0xffff) + 1), ("result", RESULT)):
        with open(disks[name], "ab") as f:
            f.truncate(size)
    options = "console=ttyS0 quiet root=/dev/vda rw init=/bin/sh net.ifnames=0 oops=panic panic=-1 mitigations=off clocksource=tsc tsc=reliable"
    command = ["qemu-system-x86_64", "-machine", "pc", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2G", "-nodefaults",
               "-no-user-config", "-no-reboot", "-display", "none", "-serial", f"file:{out}/serial.txt", "-kernel", guest + "/vmlinuz",
               "-initrd", guest + "/initrd.img", "-append", options + " -- /dev/vdb",
               "-drive", f"file={guest}/root.img,if=virtio,format=raw,snapshot=on"]
    for name in ("script", "programs", "result"):
        command += ["-drive", f"file={disks[name]},if=virtio,format=raw,cache=unsafe"]
    subprocess.run(command, timeout=LIMIT, check=False)
    subprocess.run(["tar", "-C", out, "-xf", disks["result"]], check=False, capture_output=True)
    for name in disks.values():
        os.remove(name)


def boot_well(guest):
    """The directory with what the machine leaves. An emulated CPU can take an instruction that the kernel just replaces for half old, half new: then the
    kernel panics in code that is patched when events are enabled, whoever enables them."""
    for _ in range(3):
        out = tempfile.mkdtemp(dir=work)
        boot(guest, out)
        if "Kernel panic" not in text(out, "serial.txt"):
            break
        print("# once more:", re.findall(r"RIP: \S+", text(out, "serial.txt"))[:1])
    return out


def text(out, name):
    path = pathlib.Path(out, name)
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def rows(table):
    return [r for r in csv.DictReader(io.StringIO(table)) if r.get("pid") != "pid"]


def by_lttng(out, view):
    r = subprocess.run([PROGRAM, "-b", "--config", "none", "--no-cache", "--view", view, "--format", "csv", out + "/trace"], capture_output=True,
                       text=True, check=False)
    return rows(r.stdout)


def summed(table, keys, figures):
    """Figures of rows with these keys, summed over seconds."""
    sums = {}
    for r in table:
        key = tuple(r.get(k) for k in keys)
        was = sums.setdefault(key, [0] * len(figures))
        for i, name in enumerate(figures):
            was[i] += int(float(r.get(name) or 0))
    return sums


def check(guest):
    out = boot_well(guest)
    kernel = text(out, "uname").strip() or guest
    if not text(out, "said.json"):
        tap.ok(f"{guest}: the machine ran", [text(out, "serial.txt")[-2000:]])
        return
    said = json.loads(text(out, "said.json"))
    print("#", kernel, said)
    check_probes(kernel, out)
    check_peers(kernel, out, said)
    check_files(kernel, out, said)


def check_probes(kernel, out):
    tap.ok(f"{kernel}: probes are made", [] if "sys_enter_connect" in text(out, "probes") else [text(out, "probes"), text(out, "files.err")])
    left = text(out, "probes-after")
    tap.ok(f"{kernel}: at the end they are removed, others' stay", [] if "blktop" not in left and "other/kept" in left else [left])
    killed, swept = text(out, "probes-killed"), text(out, "probes-swept")
    tap.ok(f"{kernel}: after kill -9, --sweep removes them, others' stay",
           [] if "blktop_" in killed and "blktop_" not in swept and "other/kept" in swept and text(out, "others").strip() == "1" and
           "blktop" not in text(out, "instances-swept") else [killed[:300], swept, text(out, "swept.txt"), text(out, "instances-swept")])


def check_peers(kernel, out, said):
    keys, figures = ("protocol", "local", "peer"), ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")
    mine, others = rows(text(out, "peers.csv")), by_lttng(out, "peers")
    ours, theirs = (summed(t, keys, figures) for t in (mine, others))
    tap.ok(f"{kernel}: peers are those of LTTng", differences(ours, theirs))
    ours, theirs = ({tuple(r[k] for k in keys): r["pid"] for r in t if r["pid"]} for t in (mine, others))
    tap.ok(f"{kernel}: ... and their processes", [f"{k}: {ours.get(k)}, LTTng {theirs[k]}" for k in theirs if ours.get(k) != theirs[k]])
    known = [k for k, pid in ours.items() if pid == str(said["pid"])]
    local = " ".join(k[1] for k in known)
    tap.ok(f"{kernel}: ... and the program's", [p for p in (f"127.0.0.1:{said['v4_port']}", f"[::1]:{said['v6_port']}", "127.0.0.1:7001", "[::1]:7002")
                                                  if p not in local])


def check_files(kernel, out, said):
    def of_program(table):
        return {k[1]: v for k, v in summed(table, ("pid", "path"), ("read_bytes", "write_bytes")).items() if k[0] == str(said["pid"])}

    ours, theirs, n = of_program(rows(text(out, "files.csv"))), of_program(by_lttng(out, "files")), said["bytes"]
    # the addresses of bind and accept are not in LTTng's events
    both = [k for k in set(ours) | set(theirs) if k[:1] == "/" or k in ("pipe", "socketpair", "socket inet 127.0.0.1:7001", "socket inet6 [::1]:7002")]
    tap.ok(f"{kernel}: files are those of LTTng", differences({k: ours.get(k) for k in both}, {k: theirs.get(k) for k in both}))
    used = "/tmp/used/"
    long_name = used + "file-0-with-a-name-that-is-quite-a-bit-longer-than-sixty-three-bytes-for-cuts"
    expected = {long_name: [0, 200], used + "file-1": [0, 200], used + "file-2": [0, 200], "pipe": [n, n], "socketpair": [n, n],
                "socket inet 127.0.0.1:7001": [0, n], f"socket inet 127.0.0.1:{said['v4_port']}": [n, 0], "socket inet6 [::1]:7002": [0, n],
                f"socket inet6 [::1]:{said['v6_port']}": [n, 0], f"socket unix {used}socket": [0, n], "socket inet 127.0.0.1:7003": [n, 0]}
    tap.ok(f"{kernel}: ... and the program's", [f"{k}: {ours.get(k)}, expected {v}" for k, v in expected.items() if ours.get(k) != v])


def differences(ours, theirs):
    return [f"{k}: {ours.get(k)}, LTTng {theirs.get(k)}" for k in set(ours) | set(theirs) if ours.get(k) != theirs.get(k)] or \
        ([] if theirs else ["LTTng has none"])


def main():
    guests = [g for g in os.environ.get("BLKTOP_GUEST", "").split(":") if g]
    if not guests:
        print("1..0 # SKIP BLKTOP_GUEST names no directory with a virtual machine")
        return
    if not shutil.which("qemu-system-x86_64"):
        print("1..0 # SKIP qemu-system-x86_64 is absent")
        return
    missing = [f"{g}/{n}" for g in guests for n in ("vmlinuz", "initrd.img", "root.img") if not os.path.exists(f"{g}/{n}")]
    if missing:
        print("1..0 # SKIP absent:", " ".join(missing))
        return
    try:
        for guest in guests:
            check(guest)
    finally:
        if os.environ.get("KEEP"):
            print("#", work)
        else:
            shutil.rmtree(work)
    tap.done()


if __name__ == "__main__":
    main()
