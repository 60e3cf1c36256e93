"""The trace that is measured with: ../shared/traces/kernel-busy-part.tar.xz beside the source tree, or
BLKTOP_BENCH_TRACE, a trace directory or a tar archive of one."""
import os
import tarfile


def find(build):
    """The trace's directory, or None and why not."""
    source = os.environ.get("BLKTOP_BENCH_TRACE", "../shared/traces/kernel-busy-part.tar.xz")
    if not os.path.exists(source):
        return None, f"no trace: {source} does not exist (set BLKTOP_BENCH_TRACE)"
    if os.path.isdir(source):
        return source, ""
    return unpacked(build, source, "source"), ""


def unpacked(build, source, name):
    """The directory where what is packed there was unpacked once."""
    target = os.path.join(build, "bench-trace", name)
    if not os.path.exists(os.path.join(target, "unpacked")):
        print(f"unpacking {source}", flush=True)
        with tarfile.open(source) as tar:
            tar.extractall(target)
        with open(os.path.join(target, "unpacked"), "w", encoding="ascii"):
            pass
    return target
