#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Presets, on made traces with the events of each program: its spans with names, times, parents and errors; found by themselves, reported in one line, off with
--presets none; those on request only where they are named; user's files before installed ones; recipes; both readers, slices and threads."""
import csv
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from made_ctf import BEGIN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
PRESETS = pathlib.Path(tap.ROOT, "share/blktop/presets")
EPOCH = 1795241230 * 10**9
PACK = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "f64": "d"}
work = tempfile.mkdtemp(prefix="blktop-presets.")


def write(to, fields, events):
    """fields: event -> "type name, type name"; events: (time, tid, event, value, ...), in process 70 (tid 90 and above: 80)."""
    os.makedirs(to, exist_ok=True)
    ids = {name: i for i, name in enumerate(fields)}
    layouts = {name: [f.split()[:2] for f in text.split(",") if f.strip()] for name, text in fields.items()}
    text = BEGIN + """typealias floating_point { exp_dig = 11; mant_dig = 53; byte_order = le; align = 8; } := f64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { domain = "ust"; hostname = "lab"; };
clock { name = c; uuid = "11111111-1111-4111-8111-111111111111"; freq = 1000000000; offset = 1795241230000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
typealias integer { size = 64; align = 8; base = 16; } := h64;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
 packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; };
 event.context := struct { i32 vtid; i32 vpid; string procname; }; };
""" + "".join('event { id = %d; stream_id = 0; name = "%s"; fields := struct { %s }; };\n' % (
        i, name, " ".join(f"u8 _{field}[16];" if kind == "gid" else f"{kind} _{field};" for kind, field in layouts[name])) for name, i in ids.items())
    pathlib.Path(to, "metadata").write_text(text, encoding="ascii")
    body = b""
    for time, tid, name, *values in sorted(events, key=lambda e: e[0]):
        body += struct.pack("<HQii", ids[name], time, tid, 80 if tid >= 90 else 70) + b"app\0"
        for (kind, _), value in zip(layouts[name], values, strict=True):
            body += value if kind == "gid" else value.encode() + b"\0" if kind == "string" else struct.pack("<" + PACK.get(kind, "Q"), value)
    size = (8 + 36 + len(body)) * 8
    times = [e[0] for e in events]
    pathlib.Path(to, "s_0").write_bytes(struct.pack("<IIQQQQI", 0xc1fc1fc1, 0, min(times), max(times), size, size, 3) + body)


def run(*args, **env):
    return subprocess.run([PROGRAM, "--config", "none", "--utc", *map(str, args)], capture_output=True, text=True, timeout=120, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=work + "/cache", XDG_STATE_HOME=work + "/state", XDG_DATA_HOME=work + "/no-data", **env))


def spans(*args, **env):
    """{(begin, tid, name): (end or None, name of the parent or None, is it an error?)}, and the run."""
    r = run("-b", "--view", "spans", "--format", "json", *args, **env)
    rows = json.loads(r.stdout or '{"rows": []}')["rows"]
    names = {x["span_id"]: x["name"] for x in rows}
    return {(int(x["begin_ns"]) - EPOCH, int(x["tid"]), x["name"]): (
        int(x["begin_ns"]) + int(x["duration_ns"]) - EPOCH if x["state"] == "complete" else None,
        names.get(x["parent_id"]), bool(x["errors"])) for x in rows}, r


def check(what, good, why=""):
    tap.ok(what, [] if good else [str(why) or "it is not"])


LOCK = {f"lttng_ust_pthread:pthread_mutex_{n}": f for n, f in (
    ("lock_req", "h64 mutex"), ("lock_acq", "h64 mutex, i32 status"), ("trylock", "h64 mutex, i32 status"), ("unlock", "h64 mutex, i32 status"))}
CARET = {"ros2_caret:dds_write": "h64 message", "ros2_caret:dds_bind_addr_to_stamp": "h64 addr, u64 source_stamp"}
REQ = "u8 type, i64 num, u64 tid, u32 inc"
# preset: (fields, events, spans)
CASES = {
    "seastar": ({
        "seastar_io:io_queue_queued": "i32 fd, u64 req_id, u8 direction, u32 pclass, u64 offset, u64 length", "seastar_io:io_queue_dispatched": "u64 req_id",
        "seastar_io:io_queue_completed": "u64 req_id", "seastar_io:io_queue_cancelled": "u64 req_id", "seastar_reactor:run_tasks_start": "",
        "seastar_reactor:run_tasks_end": "", "seastar_reactor:task_start": "u32 sched_group_id, string sched_group_name",
        "seastar_reactor:task_end": "u32 sched_group_id, u64 tasks_processed"}, [
        (1000, 71, "seastar_reactor:run_tasks_start"), (1100, 71, "seastar_reactor:task_start", 3, "main"),
        (1200, 71, "seastar_io:io_queue_queued", 5, 7, 0, 1, 4096, 512), (1250, 71, "seastar_io:io_queue_queued", 5, 8, 1, 1, 0, 512),
        (1260, 91, "seastar_io:io_queue_queued", 6, 7, 0, 1, 0, 512),	# another process, the same id
        (1300, 71, "seastar_reactor:task_end", 3, 1), (1310, 71, "seastar_reactor:task_start", 4, "flush"), (1400, 71, "seastar_reactor:task_end", 4, 1),
        (1500, 71, "seastar_reactor:run_tasks_end"), (2000, 71, "seastar_io:io_queue_dispatched", 7), (2500, 71, "seastar_io:io_queue_cancelled", 8),
        (3000, 71, "seastar_io:io_queue_completed", 7), (3500, 91, "seastar_io:io_queue_dispatched", 7), (4000, 91, "seastar_io:io_queue_completed", 7)], {
        (1000, 71, "run tasks"): (1500, None, False), (1100, 71, "main"): (1300, "run tasks", False), (1310, 71, "flush"): (1400, "run tasks", False),
        (1200, 71, "io"): (3000, None, False), (1200, 71, "queue"): (2000, "io", False), (2000, 71, "device"): (3000, "io", False),
        (1250, 71, "io"): (2500, None, True), (1250, 71, "queue"): (2500, "io", False),	# cancelled before it was dispatched
        (1260, 91, "io"): (4000, None, False), (1260, 91, "queue"): (3500, "io", False), (3500, 91, "device"): (4000, "io", False)}),
    "ceph": ({
        "osd:ms_fast_dispatch": REQ, "osd:opwq_process_start": REQ, "osd:opwq_process_finish": REQ, "osd:prepare_tx_enter": REQ, "osd:prepare_tx_exit": REQ,
        "osd:do_osd_op_pre": "string oid, u64 snap, u32 op, string opname, u32 flags",
        "osd:do_osd_op_post": "string oid, u64 snap, u32 op, string opname, u32 flags, i32 result",
        "oprequest:mark_flag_point": REQ + ", i32 rmw_flags, i32 flag, string msg, i32 old_hit_flag_points, i32 new_hit_flag_points",
        "librbd:aio_read_enter": "h64 imagectx, string name, u64 off, u64 len, h64 completion", "librbd:aio_read_exit": "i64 retval",
        "librbd:aio_write2_enter": "h64 imagectx, string name, u64 off, u64 len, h64 completion", "librbd:aio_write2_exit": "i64 retval",
        "librbd:aio_complete_enter": "h64 completion, i64 rval", "librbd:aio_complete_exit": "", "librados:rados_stat_enter": "h64 io, string oid",
        "librados:rados_stat_exit": "i32 retval, u64 size", "rgw_op:before_data_transfer": "string req_id, u64 ofs",
        "rgw_op:after_data_transfer": "string req_id, u64 ofs", "rgw_op:processor_complete_enter": "string req_id",
        "rgw_op:processor_complete_exit": "string req_id", "bluestore:transaction_total_duration": "h64 sequencer_id, u64 tid, f64 elapsed",
        "bluestore:transaction_state_duration": "h64 sequencer_id, u64 tid, u8 state, f64 elapsed"}, [
        (1000, 71, "osd:ms_fast_dispatch", 8, 4, 9, 0), (1010, 71, "oprequest:mark_flag_point", 8, 4, 9, 0, 1, 1, "queued_for_pg", 0, 1),
        (1100, 72, "osd:opwq_process_start", 8, 4, 9, 0), (1110, 72, "oprequest:mark_flag_point", 8, 4, 9, 0, 1, 2, "reached_pg", 1, 3),
        (1200, 72, "osd:do_osd_op_pre", "obj", 1, 2, "write", 0), (1300, 72, "osd:do_osd_op_post", "obj", 1, 2, "write", 0, -5),
        (1400, 72, "osd:prepare_tx_enter", 8, 4, 9, 0), (1500, 72, "osd:prepare_tx_exit", 8, 4, 9, 0),
        (1550, 72, "oprequest:mark_flag_point", 8, 4, 9, 0, 1, 32, "commit_sent", 3, 35), (1600, 72, "osd:opwq_process_finish", 8, 4, 9, 0),
        (2000, 91, "librbd:aio_read_enter", 1, "img", 0, 512, 0xa0), (2010, 91, "librbd:aio_read_exit", 0),
        (2020, 91, "librbd:aio_write2_enter", 1, "img", 0, 512, 0xb0), (2030, 91, "librbd:aio_write2_exit", 0),
        (2500, 92, "librbd:aio_complete_enter", 0xb0, -5), (2510, 92, "librbd:aio_complete_exit"),
        (2600, 92, "librbd:aio_complete_enter", 0xa0, 512), (2610, 92, "librbd:aio_complete_exit"),
        (3000, 91, "librados:rados_stat_enter", 1, "obj"), (3100, 91, "librados:rados_stat_exit", -2, 0),
        (4000, 93, "rgw_op:before_data_transfer", "tx1", 0), (4100, 93, "rgw_op:after_data_transfer", "tx1", 0),
        (5000, 73, "bluestore:transaction_state_duration", 0x10, 5, 2, 25e-9), (5100, 73, "bluestore:transaction_total_duration", 0x10, 5, 1.5e-7),
        (4200, 93, "rgw_op:processor_complete_enter", "tx1"), (4300, 93, "rgw_op:processor_complete_exit", "tx1")], {
        (1000, 71, "request"): (1600, None, False), (1000, 71, "queue"): (1100, "request", False), (1100, 72, "process"): (1600, "request", False),
        (1010, 71, "queued_for_pg"): (1110, "request", False), (1110, 72, "reached_pg"): (1550, "request", False),
        (1200, 72, "write"): (1300, "process", True), (1400, 72, "prepare_tx"): (1500, "process", False),
        (2000, 91, "aio_read"): (2600, None, False), (2000, 91, "librbd aio_read"): (2010, None, False), (2020, 91, "aio_write"): (2500, None, True),
        (2020, 91, "librbd aio_write2"): (2030, None, False), (2500, 92, "librbd aio_complete"): (2510, None, False),
        (2600, 92, "librbd aio_complete"): (2610, None, False), (3000, 91, "rados_stat"): (3100, None, True),
        (4975, 73, "transaction state_duration"): (5000, None, False), (4950, 73, "transaction total_duration"): (5100, None, False),
        (4000, 93, "data transfer"): (4100, None, False), (4200, 93, "complete"): (4300, None, False)}),
    "ganesha": ({"nfs_rpc:start": "h64 request", "nfs_rpc:end": "h64 request", "nfs4:op_read_start12": "u32 pos", "nfs4:op_read_end13": "i32 res",
                 "nfs4:op_open_start": "u32 pos", "nfs4:op_open_end": "i32 res"}, [
        (1000, 71, "nfs_rpc:start", 0x10), (1050, 72, "nfs_rpc:start", 0x20), (1100, 71, "nfs4:op_open_start", 0), (1200, 71, "nfs4:op_open_end", 0),
        (1300, 71, "nfs4:op_read_start12", 1), (1400, 71, "nfs4:op_read_end13", 0), (1500, 72, "nfs_rpc:end", 0x10), (1600, 72, "nfs_rpc:end", 0x20)], {
        (1000, 71, "rpc"): (1500, None, False), (1050, 72, "rpc"): (1600, None, False), (1100, 71, "open"): (1200, None, False),
        (1300, 71, "read"): (1400, None, False)}),
    "qemu": ({"qemu:virtio_blk_handle_read": "h64 vdev, h64 req, u64 sector, u64 nsectors",
              "qemu:virtio_blk_handle_write": "h64 vdev, h64 req, u64 sector, u64 nsectors",
              "qemu:virtio_blk_req_complete": "h64 vdev, h64 req, i32 status", "qemu:qcow2_writev_start_req": "h64 co, i64 offset, i64 bytes",
              "qemu:qcow2_writev_done_req": "h64 co, i32 ret", "qemu:nvme_submit_command": "h64 s, i32 index, i32 cid",
              "qemu:nvme_complete_command": "h64 s, i32 index, i32 cid"}, [
        (1000, 71, "qemu:virtio_blk_handle_read", 1, 0x10, 8, 8), (1010, 71, "qemu:virtio_blk_handle_write", 1, 0x20, 64, 8),
        (1020, 71, "qemu:qcow2_writev_start_req", 0x30, 0, 4096), (1030, 71, "qemu:nvme_submit_command", 1, 0, 5),
        (1040, 71, "qemu:nvme_submit_command", 1, 1, 5), (1200, 72, "qemu:nvme_complete_command", 1, 1, 5), (1300, 72, "qemu:nvme_complete_command", 1, 0, 5),
        (1400, 72, "qemu:qcow2_writev_done_req", 0x30, -28), (1500, 72, "qemu:virtio_blk_req_complete", 1, 0x20, 1),
        (1600, 72, "qemu:virtio_blk_req_complete", 1, 0x10, 0)], {
        (1000, 71, "virtio-blk read"): (1600, None, False), (1010, 71, "virtio-blk write"): (1500, None, True), (1020, 71, "qcow2 write"): (1400, None, True),
        (1030, 71, "nvme command"): (1300, None, False), (1040, 71, "nvme command"): (1200, None, False)}),
    "valkey": ({"valkey_commands:command_call": "string addr, string laddr, string name, u64 duration", "valkey_aof:aof_write": "u64 duration",
                "valkey_aof:aof_write_alone": "u64 duration", "valkey_aof:aof_fsync_always": "u64 duration", "valkey_aof:aof_rename": "u64 duration",
                "valkey_db:expire_cycle": "u64 duration", "valkey_cluster:cluster_config_write": "u64 duration", "valkey_sys:fork": "u64 duration",
                "valkey_server:while_blocked_cron": "u64 duration", "valkey_server:command_unblocking": "u64 duration",
                "valkey_server:eventloop": "u64 duration", "valkey_server:command": "u64 duration"}, [
        (20000, 71, "valkey_commands:command_call", "10.0.0.1:5", "10.0.0.2:6379", "get", 7), (20010, 71, "valkey_server:command", 7),
        (30000, 71, "valkey_aof:aof_write_alone", 2), (30010, 71, "valkey_aof:aof_write", 2), (31000, 71, "valkey_aof:aof_fsync_always", 1),
        (32000, 71, "valkey_aof:aof_rename", 0), (33000, 71, "valkey_db:expire_cycle", 3), (34000, 71, "valkey_cluster:cluster_config_write", 4),
        (35000, 71, "valkey_sys:fork", 5), (36000, 71, "valkey_server:while_blocked_cron", 6), (37000, 71, "valkey_server:command_unblocking", 1),
        (38000, 71, "valkey_server:eventloop", 30)], {
        (13000, 71, "get"): (20000, None, False), (28010, 71, "aof write"): (30010, None, False), (30000, 71, "aof_fsync_always"): (31000, None, False),
        (32000, 71, "aof_rename"): (32000, None, False), (30000, 71, "expire_cycle"): (33000, None, False),
        (30000, 71, "cluster_config_write"): (34000, None, False), (30000, 71, "fork"): (35000, None, False),
        (30000, 71, "while_blocked_cron"): (36000, None, False), (36000, 71, "command_unblocking"): (37000, None, False)}),
    "rocm": ({"rocm_hip:hipMalloc": "u8 phase, u64 size", "rocm_hip:hipMemcpy": "u8 phase", "rocm_hsa:hsa_signal_wait": "u8 phase"}, [
        (1000, 71, "rocm_hip:hipMemcpy", 0), (1100, 71, "rocm_hsa:hsa_signal_wait", 0), (1150, 72, "rocm_hip:hipMalloc", 0, 64),
        (1200, 71, "rocm_hsa:hsa_signal_wait", 1), (1300, 71, "rocm_hip:hipMemcpy", 1), (1400, 72, "rocm_hip:hipMalloc", 1, 64)], {
        (1000, 71, "hipMemcpy"): (1300, None, False), (1100, 71, "hsa_signal_wait"): (1200, "hipMemcpy", False), (1150, 72, "hipMalloc"): (1400, None, False)}),
    "caret": (CARET, [
        (1000, 71, "ros2_caret:dds_write", 0x10), (1010, 72, "ros2_caret:dds_write", 0x20), (1100, 71, "ros2_caret:dds_bind_addr_to_stamp", 0x10, 5555),
        (1200, 72, "ros2_caret:dds_bind_addr_to_stamp", 0x20, 5556), (1300, 71, "ros2_caret:dds_write", 0x10)], {
        (1000, 71, "publish"): (1100, None, False), (1010, 72, "publish"): (1200, None, False), (1300, 71, "publish"): (None, None, False)}),
    "dotnet": ({f"DotNETRuntime:{n}": "" for n in ("GCSuspendEEBegin_V1", "GCSuspendEEEnd_V1", "GCStart_V2", "GCEnd_V1", "GCRestartEEBegin_V1", "GCRestartEEEnd_V1")}, [
        (1000, 71, "DotNETRuntime:GCSuspendEEBegin_V1"), (1100, 71, "DotNETRuntime:GCSuspendEEEnd_V1"), (1150, 71, "DotNETRuntime:GCStart_V2"),
        (1160, 91, "DotNETRuntime:GCSuspendEEBegin_V1"), (1200, 72, "DotNETRuntime:GCEnd_V1"), (1300, 72, "DotNETRuntime:GCRestartEEBegin_V1"),
        (1400, 72, "DotNETRuntime:GCRestartEEEnd_V1"), (1500, 92, "DotNETRuntime:GCRestartEEEnd_V1")], {
        (1000, 71, "GC pause"): (1400, None, False), (1160, 91, "GC pause"): (1500, None, False)}),
    "ros2": ({"ros2:callback_start": "h64 callback, u8 is_intra_process", "ros2:callback_end": "h64 callback"}, [
        (1000, 71, "ros2:callback_start", 0x10, 0), (1100, 71, "ros2:callback_start", 0x20, 1), (1150, 91, "ros2:callback_start", 0x10, 0),
        (1200, 71, "ros2:callback_end", 0x20), (1300, 71, "ros2:callback_end", 0x10), (1400, 91, "ros2:callback_end", 0x10)], {
        (1000, 71, "0x10"): (1300, None, False), (1100, 71, "0x20"): (1200, "0x10", False),
        (1150, 91, "0x10"): (1400, None, False)}),
    "thapi": ({"lttng_ust_cuda:cuInit_entry": "u32 Flags", "lttng_ust_cuda:cuInit_exit": "i32 cuResult", "lttng_ust_cudart:cudaMalloc_entry": "u64 size",
               "lttng_ust_cudart:cudaMalloc_exit": "i32 cudaResult", "lttng_ust_zet:zetInit_entry": "", "lttng_ust_zet:zetInit_exit": "u32 zeResult",
               "lttng_ust_ze:zeInit_entry": "", "lttng_ust_ze:zeInit_exit": "u32 zeResult", "lttng_ust_mpi:MPI_Wait_entry": "h64 request",
               "lttng_ust_mpi:MPI_Wait_exit": "i32 mpiResult", "lttng_ust_opencl:clFinish_entry": "h64 queue", "lttng_ust_opencl:clFinish_exit": "i32 errcode_ret_val",
               "lttng_ust_ompt:ompt_callback_target": "i32 kind, i32 endpoint"}, [
        (1000, 71, "lttng_ust_mpi:MPI_Wait_entry", 0x5), (1100, 71, "lttng_ust_cudart:cudaMalloc_entry", 64), (1200, 71, "lttng_ust_cuda:cuInit_entry", 0),
        (1300, 71, "lttng_ust_cuda:cuInit_exit", 100), (1400, 71, "lttng_ust_cudart:cudaMalloc_exit", 0), (1500, 71, "lttng_ust_mpi:MPI_Wait_exit", 0),
        (1600, 72, "lttng_ust_ze:zeInit_entry"), (1650, 72, "lttng_ust_zet:zetInit_entry"), (1700, 72, "lttng_ust_zet:zetInit_exit", 0x78000001),
        (1800, 72, "lttng_ust_ze:zeInit_exit", 0), (1900, 72, "lttng_ust_opencl:clFinish_entry", 0x1), (2000, 72, "lttng_ust_opencl:clFinish_exit", 0),
        (2100, 72, "lttng_ust_ompt:ompt_callback_target", 1, 1), (2200, 72, "lttng_ust_ompt:ompt_callback_target", 1, 2)], {
        (1000, 71, "MPI_Wait"): (1500, None, False), (1100, 71, "cudaMalloc"): (1400, "MPI_Wait", False), (1200, 71, "cuInit"): (1300, "cudaMalloc", True),
        (1600, 72, "zeInit"): (1800, None, False), (1650, 72, "zetInit"): (1700, "zeInit", True), (1900, 72, "clFinish"): (2000, None, False),
        (2100, 72, "ompt_callback_target"): (2200, None, False)}),
    "pthread": (LOCK, [
        (1000, 71, "lttng_ust_pthread:pthread_mutex_lock_req", 0x10), (1100, 71, "lttng_ust_pthread:pthread_mutex_lock_acq", 0x10, 0),
        (1150, 72, "lttng_ust_pthread:pthread_mutex_lock_req", 0x10), (1160, 73, "lttng_ust_pthread:pthread_mutex_trylock", 0x10, 16),
        (1200, 71, "lttng_ust_pthread:pthread_mutex_unlock", 0x10, 0), (1250, 72, "lttng_ust_pthread:pthread_mutex_lock_acq", 0x10, 0),
        (1400, 72, "lttng_ust_pthread:pthread_mutex_unlock", 0x10, 0), (1500, 73, "lttng_ust_pthread:pthread_mutex_trylock", 0x10, 0),
        (1600, 73, "lttng_ust_pthread:pthread_mutex_unlock", 0x10, 0)], {
        (1000, 71, "wait for mutex 0x10"): (1100, None, False), (1100, 71, "hold mutex 0x10"): (1200, None, False),
        (1150, 72, "wait for mutex 0x10"): (1250, None, False), (1250, 72, "hold mutex 0x10"): (1400, None, False),
        (1500, 73, "hold mutex 0x10"): (1600, None, False)}),
}
ON_REQUEST = {"pthread"}


def test_case(name):
    trace = f"{work}/{name}"
    fields, events, want = CASES[name]
    write(trace, fields, events)
    asked = ["--presets", name] if name in ON_REQUEST else []
    got, r = spans(*asked, trace)
    check(f"{name}: spans", got == want, ("missing", {k: want[k] for k in want if got.get(k) != want[k]}, "got", {k: got[k] for k in got if want.get(k) != got[k]}))
    check(f"{name}: one line says that it is used", r.stderr.count(f"preset {name} is used: ") == 1 and r.stderr.count("\n") == 1, r.stderr)
    for how in (["--reader", "babeltrace2"], ["-j", "2", "--slices", "3"]):
        check(f"{name}: the same with {' '.join(how)}", spans(*asked, *how, trace)[0] == want)
    none, r = spans("--presets", "none", trace)
    check(f"{name}: --presets none", not none and "used" not in r.stderr and f"; to have them: blktop --presets {name} TRACE" in r.stderr, r.stderr)


SPAN = {"ros2:callback_start": "h64 callback, u8 is_intra_process", "ros2:callback_end": "h64 callback"}
# preset: (fields, events inside of a span and one outside, annotations of the span)
NOTES = {
    "agents": ({
        "lttng_jul:event": "string msg, string logger_name, i32 int_loglevel", "lttng_log4j2:event": "string msg, string logger_name, i32 int_loglevel",
        "lttng_python:event": "string msg, string logger_name, i32 int_loglevel", "lttng_ust_tracef:event": "string msg",
        "lttng_ust_tracelog:TRACE_ERR": "string msg"}, [
        (1100, 71, "lttng_jul:event", "slow", "org.App", 900), (1200, 71, "lttng_log4j2:event", "done", "db", 400), (1300, 71, "lttng_python:event", "oops", "web", 50),
        (1400, 71, "lttng_ust_tracef:event", "x=1"), (1500, 71, "lttng_ust_tracelog:TRACE_ERR", "no disk"), (1600, 72, "lttng_ust_tracef:event", "elsewhere")],
        ["org.App: slow", "db: done", "web: oops", "x=1", "no disk"]),
    "malloc": ({"lttng_ust_libc:malloc": "u64 size, h64 ptr", "lttng_ust_libc:calloc": "u64 nmemb, u64 size, h64 ptr",
                "lttng_ust_libc:realloc": "h64 in_ptr, u64 size, h64 ptr", "lttng_ust_libc:memalign": "u64 alignment, u64 size, h64 ptr",
                "lttng_ust_libc:posix_memalign": "h64 out_ptr, u64 alignment, u64 size, i32 result", "lttng_ust_libc:free": "h64 ptr"}, [
        (1100, 71, "lttng_ust_libc:malloc", 100, 0x10), (1200, 71, "lttng_ust_libc:calloc", 3, 8, 0x20), (1300, 71, "lttng_ust_libc:realloc", 0x10, 200, 0x10),
        (1400, 71, "lttng_ust_libc:memalign", 64, 4096, 0x40), (1450, 71, "lttng_ust_libc:posix_memalign", 0, 64, 512, 0),
        (1500, 71, "lttng_ust_libc:free", 0x10), (1600, 72, "lttng_ust_libc:malloc", 7, 0x50)],
        ["malloc 100", "calloc 3 x 8", "realloc 200", "memalign 4096", "posix_memalign 512"]),
}


def test_notes(name):
    """Presets that only annotate, beside spans of another one."""
    trace = f"{work}/{name}"
    fields, events, want = NOTES[name]
    write(trace, {**SPAN, **fields}, [(1000, 71, "ros2:callback_start", 0x10, 0), *events, (2000, 71, "ros2:callback_end", 0x10)])
    for how in ((), ("--reader", "babeltrace2"), ("-j", "2", "--slices", "3")):
        r = run("-b", "--view", "spans", "--format", "json", "--presets", f"auto,{name}", *how, trace)
        rows = json.loads(r.stdout)["rows"]
        text = rows[0]["annotations"] or ""
        places = [text.find(w) for w in want]
        check(f"{name}: annotations of the span, in order {' '.join(how)}", len(rows) == 1 and -1 not in places and places == sorted(places)
              and "elsewhere" not in text and "malloc 7" not in text, (rows, r.stderr))
    check(f"{name}: it is said to be used", "presets " in r.stderr and name in r.stderr, r.stderr)
    r = run("-b", "--view", "spans", "--format", "json", "--presets", "ros2", trace)
    check(f"{name}: without it there are none", not any(w in (json.loads(r.stdout)["rows"][0]["annotations"] or "") for w in want), r.stdout)
    alone = f"{work}/{name}-alone"
    write(alone, fields, events)
    r = run("-b", "--view", "spans", "--presets", f"auto,{name}", alone)
    check(f"{name}: alone, it is no preset that makes spans", f"--recipe={name}" not in r.stderr, r.stderr)
    r = run("--doctor", "--format", "json", "--presets", f"auto,{name}", alone)
    answers = {q["id"]: q["answer"] for q in json.loads(r.stdout)["questions"]}
    check(f"{name}: alone, the doctor sees no spans", answers["requests"] == "no", answers)


def test_choice():
    trace = f"{work}/pthread"
    got, r = spans(trace)
    check("on request: nothing by itself, and one line says how", not got and "this trace has events of the preset pthread: --presets auto,pthread uses it" in r.stderr,
          r.stderr)
    got, r = spans("--presets", "auto,pthread", f"{work}/seastar", trace)
    check("presets of two traces", set(got) == set(CASES["seastar"][2]) | set(CASES["pthread"][2]) and "presets pthread, seastar are used" in r.stderr, r.stderr)
    r = run("-b", "--view", "spans", "--presets", "nosuch", trace)
    check("an unknown preset is refused, with those that there are", r.returncode == 1 and "there is no 'nosuch'" in r.stderr and "seastar" in r.stderr, r.stderr)
    got, r = spans("--spans", PRESETS / "pthread.preset", trace)
    check("a preset that --spans names is on", got == CASES["pthread"][2], r.stderr)
    own = pathlib.Path(work, "own.spans")
    own.write_text("[io]\nbegin=seastar_io:io_queue_queued\nend=seastar_io:io_queue_*\nbegin_if=req_id != -1\nkey=req_id, ctx.vpid\nname=mine\n", encoding="ascii")
    got, r = spans("--spans", own, f"{work}/seastar")
    want = dict(CASES["seastar"][2])
    want.update({(b, tid, "mine"): (end, None, False) for (b, tid, name), (end, _p, _e) in want.items() if name == "queue"})
    check("rules of --spans are added, with names of their own", got == want, (got, r.stderr))


def test_caret():
    """A message of CARET's events is taken by the preset ros2, in another process: a chain is one trace."""
    trace = f"{work}/chain"
    write(trace, {**CARET, **SPAN, "ros2:rmw_take": "h64 rmw_subscription_handle, h64 message, i64 source_timestamp, u8 taken"}, [
        (1000, 71, "ros2:callback_start", 0x10, 0), (1010, 71, "ros2_caret:dds_write", 0x99), (1020, 71, "ros2_caret:dds_bind_addr_to_stamp", 0x99, 4711),
        (1100, 71, "ros2:callback_end", 0x10), (1150, 91, "ros2:rmw_take", 0x5, 0x77, 4712, 1), (1160, 91, "ros2:callback_start", 0x20, 0),
        (1170, 91, "ros2:callback_end", 0x20), (1200, 91, "ros2:rmw_take", 0x5, 0x77, 4711, 1), (1210, 91, "ros2:callback_start", 0x20, 0),
        (1300, 91, "ros2:callback_end", 0x20)])
    got, r = spans(trace)
    want = {(1000, 71, "0x10"): (1100, None, False), (1010, 71, "publish"): (1020, "0x10", False), (1150, 91, "take 0x5"): (1170, None, False),
            (1160, 91, "0x20"): (1170, "take 0x5", False), (1200, 91, "take 0x5"): (1300, "publish", False), (1210, 91, "0x20"): (1300, "take 0x5", False)}
    check("caret: a chain by the time of the source", got == want and "presets caret, ros2 are used" in r.stderr, (got, r.stderr))
    r = run("-b", "--view", "spans", "--format", "json", "--columns", "name,link_ns", trace)
    ways = [x["link_ns"] for x in json.loads(r.stdout)["rows"] if x["link_ns"]]
    check("caret: the message's way", ways == [180], ways)


def test_messages():
    """Messages of ROS 2 since Iron, by the time of rmw_publish; and within a process, through a buffer whose address another process has, too."""
    trace = f"{work}/messages"
    write(trace, {**SPAN, "ros2:rcl_publisher_init": "h64 publisher_handle, h64 node_handle, h64 rmw_publisher_handle, string topic_name, u64 queue_depth",
                  "ros2:rmw_publish": "h64 rmw_publisher_handle, h64 message, i64 timestamp",
                  "ros2:rmw_take": "h64 rmw_subscription_handle, h64 message, i64 source_timestamp, u8 taken",
                  "ros2:rclcpp_ring_buffer_enqueue": "h64 buffer, u64 index, u64 size, u8 overwritten",
                  "ros2:rclcpp_ring_buffer_dequeue": "h64 buffer, u64 index, u64 size",
                  "ros2:rcl_lifecycle_transition": "h64 state_machine, string start_label, string goal_label"}, [
        (900, 71, "ros2:rcl_publisher_init", 0x1, 0x2, 0x3, "/chatter", 10),
        (1000, 71, "ros2:callback_start", 0x10, 0), (1010, 71, "ros2:rmw_publish", 0x3, 0x9, 777), (1020, 71, "ros2:rclcpp_ring_buffer_enqueue", 0xb, 4, 1, 1),
        (1030, 71, "ros2:rcl_lifecycle_transition", 0x8, "inactive", "active"), (1040, 71, "ros2:rclcpp_ring_buffer_enqueue", 0xb, 5, 2, 0),
        (1100, 71, "ros2:callback_end", 0x10),
        (1150, 72, "ros2:rclcpp_ring_buffer_dequeue", 0xb, 4, 0), (1160, 72, "ros2:callback_start", 0x30, 1), (1190, 72, "ros2:callback_end", 0x30),
        (1170, 92, "ros2:rclcpp_ring_buffer_dequeue", 0xb, 4, 0), (1180, 92, "ros2:callback_start", 0x40, 1), (1195, 92, "ros2:callback_end", 0x40),
        (1200, 91, "ros2:rmw_take", 0x5, 0x77, 777, 1), (1210, 91, "ros2:callback_start", 0x20, 0), (1300, 91, "ros2:callback_end", 0x20)])
    want = {(1000, 71, "0x10"): (1100, None, False), (1010, 71, "publish /chatter"): (1010, "0x10", False),
            (1020, 71, "publish within the process"): (1020, "0x10", False), (1040, 71, "publish within the process"): (1040, "0x10", False),
            (1150, 72, "take within the process"): (1190, "publish within the process", False), (1160, 72, "0x30"): (1190, "take within the process", False),
            (1170, 92, "take within the process"): (1195, None, False), (1180, 92, "0x40"): (1195, "take within the process", False),
            (1200, 91, "take 0x5"): (1300, "publish /chatter", False), (1210, 91, "0x20"): (1300, "take 0x5", False)}
    for how in ([], ["--reader", "babeltrace2"], ["-j", "2", "--slices", "4"]):
        got, r = spans(*how, trace)
        check(f"ros2: messages are links {' '.join(how)}", got == want and r.stderr.count("\n") == 1, (sorted(set(got.items()) ^ set(want.items())), r.stderr))
    r = run("-b", "--view", "spans", "--format", "json", trace)
    rows = json.loads(r.stdout)["rows"]
    ways = sorted((x["name"], x["link_ns"]) for x in rows if x["link_ns"])
    check("ros2: the messages' ways", ways == [("take 0x5", 190), ("take within the process", 130)], ways)
    notes = [x["annotations"] for x in rows if x["name"] == "0x10"]
    check("ros2: what is overwritten, and changes of the lifecycle, are annotations", len(notes) == 1 and "overwritten" in str(notes) and
          "from inactive to active" in str(notes), notes)


def test_services():
    """A service of ROS 2: the request, by the client's identifier, and the response; another client's request of the same number is another one."""
    trace = f"{work}/services"
    write(trace, {**SPAN, "ros2:rmw_client_init": "h64 rmw_client_handle, gid gid", "ros2:rcl_client_init":
                  "h64 client_handle, h64 node_handle, h64 rmw_client_handle, string service_name",
                  "ros2:rmw_send_request": "h64 rmw_client_handle, h64 request, i64 sequence_number",
                  "ros2:rmw_take_request": "h64 rmw_service_handle, h64 request, gid client_gid, i64 sequence_number, u8 taken",
                  "ros2:rmw_send_response": "h64 rmw_service_handle, h64 response, gid client_gid, i64 sequence_number, i64 timestamp",
                  "ros2:rmw_take_response": "h64 rmw_client_handle, h64 response, i64 sequence_number, i64 source_timestamp, u8 taken"}, [
        (900, 71, "ros2:rmw_client_init", 0x3, bytes(range(1, 17))), (901, 71, "ros2:rcl_client_init", 0x1, 0x2, 0x3, "/add"),
        (902, 72, "ros2:rmw_client_init", 0x4, bytes(range(16))),
        (1000, 71, "ros2:callback_start", 0x10, 0), (1010, 71, "ros2:rmw_send_request", 0x3, 0x9, 1), (1020, 71, "ros2:callback_end", 0x10),
        (1015, 72, "ros2:rmw_send_request", 0x4, 0x9, 1), (1016, 72, "ros2:rmw_send_request", 0x5, 0x9, 2),
        (1100, 91, "ros2:rmw_take_request", 0x6, 0x9, bytes(range(1, 17)), 1, 1), (1110, 91, "ros2:callback_start", 0x20, 0),
        (1150, 91, "ros2:rmw_send_response", 0x6, 0x9, bytes(range(1, 17)), 1, 4711), (1160, 91, "ros2:callback_end", 0x20),
        (1170, 91, "ros2:rmw_take_request", 0x6, 0x9, bytes(range(16)), 1, 1), (1180, 91, "ros2:callback_start", 0x20, 0), (1190, 91, "ros2:callback_end", 0x20),
        (1192, 91, "ros2:rmw_take_request", 0x6, 0x9, bytes(range(16)), 2, 1), (1194, 91, "ros2:callback_start", 0x20, 0), (1196, 91, "ros2:callback_end", 0x20),
        (1200, 71, "ros2:rmw_take_response", 0x3, 0x9, 1, 4711, 1)])
    want = {(1000, 71, "0x10"): (1020, None, False), (1010, 71, "call /add"): (1010, "0x10", False), (1015, 72, "call 0x4"): (1015, None, False),
            (1016, 72, "call 0x5"): (1016, None, False), (1100, 91, "serve"): (1160, "call /add", False), (1110, 91, "0x20"): (1160, "serve", False),
            (1150, 91, "respond"): (1150, "0x20", False), (1170, 91, "serve"): (1190, "call 0x4", False), (1180, 91, "0x20"): (1190, "serve", False),
            (1192, 91, "serve"): (1196, None, False), (1194, 91, "0x20"): (1196, "serve", False), (1200, 71, "response of /add"): (1200, None, False)}
    for how in ([], ["--reader", "babeltrace2"], ["-j", "2", "--slices", "4"]):
        got, r = spans(*how, trace)
        check(f"ros2: requests of services are links {' '.join(how)}", got == want and r.stderr.count("\n") == 2 and "[client]: some entries" in r.stderr,
              (sorted(set(got.items()) ^ set(want.items()), key=str), r.stderr))
    r = run("-b", "--view", "spans", "--format", "json", trace)
    ways = sorted((x["name"], x["link_ns"]) for x in json.loads(r.stdout)["rows"] if x["link_ns"])
    check("ros2: the ways of requests and responses", ways == [("response of /add", 50), ("serve", 90), ("serve", 155)], ways)


def test_advice():
    """What is said of missing spans and events depends on whether a preset fits."""
    def repairs(*args):
        r = run("--doctor", "--format", "json", *args)
        return {x["problem"]: x["commands"] for x in json.loads(r.stdout)["repairs"]}, json.loads(r.stdout)
    found, whole = repairs(f"{work}/seastar")
    of_preset = [v for k, v in found.items() if k.startswith("for the preset seastar (disk I/O and tasks of each shard), this is not recorded: events of the kernel")]
    check("doctor: what the preset's recording misses, and its recipe", of_preset == [["blktop --recipe=seastar >record.sh", "sh record.sh NEW_SESSION"]], found)
    requests = [q for q in whole["questions"] if q["id"] == "requests"]
    check("doctor: requests are answered by a preset", requests[0]["answer"] == "yes", requests)
    check("doctor: nothing tells to record zipkin:*", not any("zipkin" in c for commands in found.values() for c in commands), found)
    found, whole = repairs("--presets", "none", f"{work}/seastar")
    check("doctor without presets suggests rules", not any("preset seastar" in k for k in found)
          and any("--suggest-rules" in c for commands in found.values() for c in commands), found)
    write(f"{work}/bare", {"ros2:callback_start": "h64 callback, u8 is_intra_process", "ros2:callback_end": "h64 callback"}, CASES["ros2"][1])
    text = pathlib.Path(work, "bare/metadata").read_text(encoding="ascii")
    pathlib.Path(work, "bare/metadata").write_text(text.replace("string procname;", "string other;"), encoding="ascii")
    found, _ = repairs(f"{work}/bare")
    check("doctor: a missing context", any(k.startswith("for the preset ros2 (") and "the context procname (ust)" in k and "vpid" not in k for k in found), found)
    write(f"{work}/alone", {"other:thing": "u32 x"}, [(1000, 71, "other:thing", 5), (2000, 71, "other:thing", 6)])
    r = run("-b", "--view", "spans", f"{work}/alone")
    check("no preset fits: rules can be suggested", "not in this trace: spans; " in r.stderr and "--suggest-rules" in r.stderr and "zipkin" not in r.stderr, r.stderr)
    r = run("-b", "--view", "spans", f"{work}/pthread")
    check("one on request fits: how to use it", "blktop --presets auto,pthread TRACE" in r.stderr
          and "zipkin" not in r.stderr, r.stderr)
    write(f"{work}/half", {"ros2:callback_start": "h64 callback, u8 is_intra_process"}, CASES["ros2"][1][:2])
    r = run("-b", "--view", "spans", f"{work}/half")
    check("a rule with one event of two is reported", "[callback]: no ros2:callback_end in this trace" in r.stderr, r.stderr)
    r = run("-b", "--view", "spans", f"{work}/thapi")
    check("rules without any event are not", r.stderr.count("\n") == 1, r.stderr)
    report = subprocess.run([PROGRAM, "report", f"{work}/alone"], capture_output=True, text=True, timeout=60, check=False).stdout
    check("the report says spans, not names of events", "zipkin" not in report and "| no | spans |" in report, report)


def test_slices():
    """A slice has its rules by what they say: other presets have other numbers where it is read."""
    want, slice_ = CASES["seastar"][2], f"{work}/s.slice"
    subprocess.run([PROGRAM, "map", "--presets", "auto,pthread", f"{work}/seastar", "-o", slice_], capture_output=True, check=False, timeout=60)
    for how in (["auto"], ["seastar"], ["auto,pthread"]):
        got, r = spans("--presets", *how, slice_)
        check(f"slice: the spans with --presets {how[0]}", got == want and "left out" not in r.stderr, (got, r.stderr))
    for how in ("none", "ros2"):
        got, r = spans("--presets", how, slice_)
        check(f"slice: no spans, and a line, with --presets {how}", not got and "spans are left out: these slices were made with rules" in r.stderr, (got, r.stderr))
    again = f"{work}/again.slice"
    subprocess.run([PROGRAM, "reduce", "--presets", "none", slice_, "-o", again], capture_output=True, check=False, timeout=60)
    got, r = spans(again)
    check("slice: reduced without the preset, it still has its rules", got == want, (got, r.stderr))


def test_files():
    data = pathlib.Path(work, "data/blktop/presets")
    data.mkdir(parents=True)
    (data / "mine.preset").write_text("[preset seastar]\ntitle=mine\nprogram=x\ndetect=seastar_io:*\n[r]\nbegin=seastar_io:io_queue_queued\n"
                                      "end=seastar_io:io_queue_dispatched\nkey=req_id, ctx.vpid\n", encoding="ascii")
    (data / "bad.preset").write_text("[preset bad]\ntitle=x\n[r]\nbegin=a\nend=b\n", encoding="ascii")
    got, r = spans(f"{work}/seastar", XDG_DATA_DIRS=work + "/data")
    check("beside the program comes before XDG_DATA_DIRS", got == CASES["seastar"][2], r.stderr)
    check("a preset without a program is left out, with its line", "this preset is left out: " in r.stderr and "bad.preset:1: [preset bad] has no program" in r.stderr, r.stderr)
    env = dict(os.environ, XDG_DATA_HOME=work + "/data", XDG_CACHE_HOME=work + "/cache", XDG_STATE_HOME=work + "/state")
    r = subprocess.run([PROGRAM, "-b", "--view", "spans", "--format", "csv", f"{work}/seastar"], capture_output=True, text=True, check=False, timeout=60, env=env)
    names = {x["name"] for x in csv.DictReader(io.StringIO(r.stdout))}
    check("a user's preset comes first", names == {"r"} and "preset seastar is used: mine" in r.stderr, (names, r.stderr))


def test_lists():
    r = run("--list-presets")
    listed = [line.split()[0] for line in r.stdout.split("\n") if line and not line.startswith(" ")]
    shipped = sorted(p.stem for p in PRESETS.glob("*.preset"))
    check("--list-presets has all files, by name", listed == shipped and set(CASES) | set(NOTES) <= set(shipped), (listed, shipped))
    check("each preset has a test with its events", set(shipped) == set(CASES) | set(NOTES), set(shipped) ^ set(CASES) ^ set(NOTES))
    for name in shipped:
        r = run("--recipe=" + name)
        head = dict(line.split("=", 1) for line in (PRESETS / f"{name}.preset").read_text().split("\n\n")[0].split("\n") if "=" in line)
        events = [e.strip() for e in head.get("events", head["detect"]).split(",")]
        agents = "agents" in head
        there = agents or all(f"lttng enable-event -u -s \"$session\" -c spans '{e}'" in r.stdout for e in events)
        checked = subprocess.run(["sh", "-n"], input=r.stdout, text=True, capture_output=True, check=False)
        check(f"--recipe={name} records its events", r.returncode == 0 and there and checked.returncode == 0 and "-t vpid -t vtid" in r.stdout, r.stdout)
    r = run("--recipe=nosuch")
    check("--recipe of no preset", r.returncode == 2 and "there is no preset 'nosuch'" in r.stderr, r.stderr)
    check("--recipe alone has no events of presets", "ros2" not in run("--recipe").stdout)
    check("--list-events has none", "seastar" not in run("--list-events").stdout)


def main():
    if sys.argv[1:2] == ["--write"]:	# for other tests: NAME DIRECTORY
        write(sys.argv[3], *CASES[sys.argv[2]][:2])
        return
    for name in CASES:
        test_case(name)
    for name in NOTES:
        test_notes(name)
    test_choice()
    test_caret()
    test_messages()
    test_services()
    test_advice()
    test_slices()
    test_files()
    test_lists()
    tap.done()


main()
