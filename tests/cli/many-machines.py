#!/usr/bin/env python3
"""scripts/blktop-parallel maps rotation chunks and merges the slices as a tree: the result prints what the trace prints. It goes on
after a failure and when chunks are added, and scripts/blktop-slurm submits the same jobs."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
TRACE = os.environ.get("TRACES", "tests/traces") + "/rotation/trace"
VIEWS = ["events", "processes", "spans", "losses"]
# sbatch as a shell script: a task after the other, at once; a job whose dependency failed does not run.
SBATCH = """#!/bin/bash
array='' name='' depends=''
while [ "${1#-}" != "$1" ]; do
	case $1 in
	--array) array=${2%%%*}; shift 2 ;;
	--job-name) name=$2; shift 2 ;;
	--dependency) depends=${2#afterok:}; shift 2 ;;
	--output) shift 2 ;;
	*) shift ;;
	esac
done
id=$(($(cat "$FAKE/last" 2>/dev/null || echo 0) + 1))
echo $id >"$FAKE/last"
echo "$id $name $array $depends" >>"$FAKE/jobs"
for d in ${depends//:/ }; do
	[ -e "$FAKE/failed-$d" ] && { touch "$FAKE/failed-$id"; echo $id; exit 0; }
done
for i in ${array:+$(seq ${array/-/ })} ${array:-0}; do
	case $i in *-*) continue ;; esac
	SLURM_ARRAY_TASK_ID=$i "$@" >/dev/null 2>&1 || touch "$FAKE/failed-$id"
done
echo $id
"""
MOREUTILS = "#!/bin/sh\necho 'parallel [OPTIONS] command -- arguments'\nexit 1\n"
SCONTROL = "#!/bin/sh\necho 'MaxArraySize            = 4'\n"


def run(script, *arguments, program=PROGRAM, **environment):
    return tap.output(os.path.join(tap.ROOT, "scripts", script), *arguments, env=dict(os.environ, BLKTOP=program, **environment))


def report(path):
    return [tap.output(PROGRAM, "-b", "--utc", "--view", v, "--format", "csv", path).stdout for v in VIEWS]


def chunks_of(trace):
    return sorted(os.listdir(trace + "/archives"), key=lambda c: int(c.rsplit("-", 1)[1]))


def failing(work, number):
    """A program that cannot map the chunk of that number."""
    path = os.path.join(work, "failing")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\ncase \"$*\" in map*-{number}) exit 1 ;; esac\nexec '{PROGRAM}' \"$@\"\n")
    os.chmod(path, 0o755)
    return path


def jobs_of(text):
    """Numbers of jobs that each level says."""
    return [int(line.split()[2]) for line in text.split("\n") if line.startswith("level")]


def check_other_parallel(work):
    """moreutils has a program of that name, too."""
    bin_dir, out = os.path.join(work, "moreutils"), os.path.join(work, "none.blkslice")
    os.mkdir(bin_dir)
    with open(bin_dir + "/parallel", "w", encoding="ascii") as f:
        f.write(MOREUTILS)
    os.chmod(bin_dir + "/parallel", 0o755)
    r = run("blktop-parallel", "-o", out, TRACE + "/archives", PATH=bin_dir + ":" + os.environ["PATH"])
    good = r.returncode == 2 and f"{bin_dir}/parallel" in r.stderr and "moreutils" in r.stderr
    tap.ok("moreutils' parallel is not taken for GNU's, which is said", [] if good and not os.path.exists(out + ".parts") else [r.stderr])


def check_parallel(work):
    if not shutil.which("parallel") or "GNU parallel" not in tap.output("parallel", "--version", stdin=subprocess.DEVNULL).stdout:
        tap.skip("blktop-parallel", "GNU parallel is not installed")
        return
    # A name with a space; at first a chunk is missing at the end.
    trace = os.path.join(work, "the trace")
    shutil.copytree(TRACE, trace)
    names = chunks_of(trace)
    archives, last = trace + "/archives", os.path.join(work, names[-1])
    shutil.move(f"{archives}/{names[-1]}", last)
    out = os.path.join(work, "all of it.blkslice")
    words = ["--fan-in", "2", "-j", "2", "-o", out, archives]
    r = run("blktop-parallel", *words, program=failing(work, 2))
    tap.ok("a map fails: so does the whole, with the place of the log",
           [] if r.returncode == 1 and "joblog-0" in r.stderr and not os.path.exists(out) else [r.stderr])
    r = run("blktop-parallel", *words)
    tap.ok("again: only what failed is mapped", [] if r.returncode == 0 and jobs_of(r.stdout)[0] == 1 else [r.stdout, r.stderr])
    tap.ok("the result prints what the chunks print", [] if report(out) == report(trace) else ["it does not"])
    tap.ok("and it says how to show it", [] if f"blktop --chunks '{archives}' '{out}'" in r.stdout else [r.stdout])
    r = run("blktop-parallel", *words)
    tap.ok("once more: nothing is left to do", [] if r.returncode == 0 and jobs_of(r.stdout) == [] else [r.stdout])
    shutil.move(last, archives)
    r = run("blktop-parallel", *words)
    tap.ok("another chunk: it and the former last one are mapped",
           [] if r.returncode == 0 and jobs_of(r.stdout)[0] == 2 else [r.stdout, r.stderr])
    tap.ok("and the result has it", [] if report(out) == report(trace) else ["it does not"])
    r = run("blktop-parallel", *words, "--", "--with-spans")
    tap.ok("other options for the same pieces are refused", [] if r.returncode == 1 and "other options" in r.stderr else [r.stderr])
    shutil.rmtree(f"{archives}/{names[2]}")
    r = run("blktop-parallel", "--work", work + "/new", "-o", out, archives)
    tap.ok("a missing chunk is named", [] if r.returncode == 1 and "chunk 2 is missing" in r.stderr else [r.stderr])


def check_slurm(work):
    """Against a stand-in for sbatch; tests/long/slurm.sh has the real one."""
    fake, bin_dir, out = os.path.join(work, "fake"), os.path.join(work, "bin"), os.path.join(work, "slurm.blkslice")
    for path in (fake, bin_dir):
        os.mkdir(path)
    for name, text in (("sbatch", SBATCH), ("scontrol", SCONTROL)):
        with open(os.path.join(bin_dir, name), "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(os.path.join(bin_dir, name), 0o755)
    environment = {"PATH": bin_dir + ":" + os.environ["PATH"], "FAKE": fake}
    words = ["--fan-in", "2", "-o", out, TRACE + "/archives"]
    r = run("blktop-slurm", *words, program=failing(work, 1), **environment)
    tap.ok("Slurm: a task fails, and nothing is written", [] if r.returncode == 0 and not os.path.exists(out) else [r.stderr])
    os.remove(fake + "/jobs")
    r = run("blktop-slurm", *words, **environment)
    with open(fake + "/jobs", encoding="ascii") as f:
        jobs = [line.rstrip("\n").split(" ") for line in f]
    tap.ok("again: only that task is left of the maps", [] if jobs[0][1:3] == ["blktop-0", "0-0"] else jobs)
    tap.ok("arrays are no longer than Slurm allows", [] if all(int((j[2] or "0-0").split("-")[1]) < 4 for j in jobs) else jobs)
    tap.ok("each level waits for the one before", [] if all(j[3] for j in jobs[1:]) and jobs[-1][1] == "blktop-end" else jobs)
    tap.ok("the result prints what the trace prints", [] if report(out) == report(TRACE) else [r.stdout, r.stderr])


def main():
    with tempfile.TemporaryDirectory() as work:
        check_other_parallel(work)
        check_parallel(work)
        check_slurm(work)
    tap.done()


main()
