# SPDX-License-Identifier: GPL-2.0-only
"""What the programs of providers.txt do, made from a seed: plans for tracegen, and the truth about them.

A program's function makes threads in one or more processes, lets them fire events, and writes down each span that these mean. An event is
known by its thread and its number among the thread's events, which babeltrace2's text shows, too."""
import random


class Thread:
    def __init__(self, plan, process, name):
        self.plan, self.process, self.name, self.n = plan, process, name, 0
        self.number = len(plan.threads)
        self.lines, self.open = [f"T\t{process}\t{name}"], []

    def fire(self, event, *values):
        """Which event it is: (number of the thread, number of the event)"""
        self.lines.append("\t".join(["E", event, *map(text_of, values)]))
        self.n += 1
        return self.number, self.n - 1

    def post(self, counter):
        self.lines.append(f"S\t{counter}")

    def wait(self, counter, number=1):
        self.lines.append(f"W\t{counter}\t{number}")

    def stamp(self, register):
        self.lines.append(f"N\t{register}")

    def nap(self, most=30):
        if self.plan.random.random() < 0.2:
            self.lines.append(f"U\t{self.plan.random.randrange(1, most)}")


def text_of(value):
    return hex(value) if isinstance(value, Address) else str(value)


class Address(int):
    def __str__(self):
        return hex(self)


class Truth:
    """A span: begin and end are events; or begin is a number of ns before the end. None: there is no such event."""

    def __init__(self, rule, name, thread, begin, parent=None, tags=None):
        self.rule, self.name, self.thread, self.begin, self.parent = rule, name, thread, begin, parent
        self.tags, self.end, self.error = tags or {}, None, False


class Plan:
    def __init__(self, seed, size, n_functions):
        self.random, self.size, self.threads, self.spans, self.notes = random.Random(seed), size, [], [], []
        self.n_functions = n_functions      # of lttng_ust_cuda
        self.n_counters = self.n_registers = self.n_processes = self.next_address = 0

    def process(self):
        self.n_processes += 1
        self.next_address = 0x55d0c0de0000       # addresses of processes are alike
        return self.n_processes - 1

    def thread(self, process, name):
        self.threads.append(Thread(self, process, name))
        return self.threads[-1]

    def counter(self):
        self.n_counters += 1
        return self.n_counters - 1

    def register(self):
        self.n_registers += 1
        return self.n_registers - 1

    def address(self):
        self.next_address += 16 * self.random.randrange(1, 64)
        return Address(self.next_address)

    def begin(self, thread, rule, name, event, parent=None, tags=None):
        """A span that begins at the event."""
        self.spans.append(Truth(rule, name, thread, event, parent, tags))
        return self.spans[-1]

    def call(self, thread, rule, name, event, tags=None):
        """A span that begins inside the innermost call of the thread; leave() ends it."""
        thread.open.append(self.begin(thread, rule, name, event, thread.open[-1] if thread.open else None, tags))

    def leave(self, thread, event, error=False):
        span = thread.open.pop()
        span.end, span.error = event, error

    def text(self):
        return "\n".join(line for t in self.threads for line in t.lines) + "\n"


# ---- ROS 2 ----

class Node:
    """A process with a node: its callbacks by topic, and its timers."""

    def __init__(self, plan, name):
        self.plan, self.process, self.name = plan, plan.process(), name
        self.main, self.handle = plan.thread(self.process, name), plan.address()
        self.ready = plan.counter()
        self.publishers, self.callbacks, self.symbols, self.timers = {}, {}, {}, []
        self.main.fire("ros2:rcl_init", plan.address(), "8.4.0")
        self.main.fire("ros2:rcl_node_init", self.handle, plan.address(), name, "/")

    def callback(self, symbol):
        at = self.plan.address()
        self.main.fire("ros2:rclcpp_callback_register", at, symbol)
        self.symbols[at] = symbol
        return at

    def publisher(self, topic):
        rmw, handle = self.plan.address(), self.plan.address()
        self.main.fire("ros2:rmw_publisher_init", rmw, f"{handle:016x}")
        self.main.fire("ros2:rcl_publisher_init", handle, self.handle, rmw, topic, 10)
        self.publishers[topic] = handle, rmw

    def subscription(self, topic):
        rmw, handle, its = (self.plan.address() for _ in range(3))
        self.main.fire("ros2:rmw_subscription_init", rmw, f"{handle:016x}")
        self.main.fire("ros2:rcl_subscription_init", handle, self.handle, rmw, topic, 10)
        self.main.fire("ros2:rclcpp_subscription_init", handle, its)
        callback = self.callback(f"{self.name}::on_{topic[1:]}(std_msgs::msg::String const&)")
        self.main.fire("ros2:rclcpp_subscription_callback_added", its, callback)
        self.callbacks[topic] = callback, handle, rmw

    def timer(self, period_ns):
        handle = self.plan.address()
        self.main.fire("ros2:rcl_timer_init", handle, period_ns)
        callback = self.callback(f"{self.name}::on_timer_{len(self.timers)}()")
        self.main.fire("ros2:rclcpp_timer_callback_added", handle, callback)
        self.main.fire("ros2:rclcpp_timer_link_node", handle, self.handle)
        self.timers.append((callback, handle))


def execute(node, thread, handle):
    thread.fire("ros2:rclcpp_executor_get_next_ready")
    thread.fire("ros2:rclcpp_executor_execute", handle)


def run_callback(node, thread, callback, work):
    plan = node.plan
    tags = {"callback": callback, "is_intra_process": 0}
    plan.call(thread, "callback", node.symbols.get(callback, str(callback)), thread.fire("ros2:callback_start", callback, 0), tags)
    thread.nap()
    work()
    plan.leave(thread, thread.fire("ros2:callback_end", callback))


def publish(node, thread, topic, counter, register):
    handle, rmw = node.publishers[topic]
    message = node.plan.address()
    thread.fire("ros2:rclcpp_publish", message)
    thread.fire("ros2:rcl_publish", handle, message)
    thread.stamp(register)
    thread.fire("ros2:rmw_publish", rmw, message, f"@{register}")
    thread.post(counter)


def take(node, thread, topic, counter, register):
    callback, handle, rmw = node.callbacks[topic]
    thread.fire("ros2:rclcpp_executor_wait_for_work", -1)
    thread.wait(counter)
    execute(node, thread, handle)
    message = node.plan.address()
    thread.fire("ros2:rmw_take", rmw, message, f"@{register}", 1)
    thread.fire("ros2:rcl_take", message)
    thread.fire("ros2:rclcpp_take", message)
    return callback


def ros2(plan):
    """A timer publishes, a filter republishes on another thread of a process, or in it, a listener hears; callbacks nest, and run on
    several threads at once; an address is registered again with another symbol."""
    talker, relay, listener = Node(plan, "talker"), Node(plan, "relay"), Node(plan, "listener")
    for node, out, into in ((talker, "/chatter", None), (relay, "/filtered", "/chatter"), (listener, None, "/filtered")):
        node.timer(100000000)
        if out:
            node.publisher(out)
        if into:
            node.subscription(into)
    for number in range(2):
        executors = [(node, plan.thread(node.process, f"{node.name}-{number}")) for node in (talker, relay, listener)]
        for node, thread in executors:
            thread.wait(node.ready)
        for _ in range(plan.size):
            message(plan, executors)
    for node in (talker, relay, listener):
        node.main.post(node.ready)
    late_names(plan, listener)


def message(plan, executors):
    (talker, first), (relay, second), (listener, third) = executors
    first_at, second_at = (plan.counter(), plan.register()), (plan.counter(), plan.register())
    callback, timer = talker.timers[0]
    execute(talker, first, timer)
    run_callback(talker, first, callback, lambda: publish(talker, first, "/chatter", *first_at))
    callback = take(relay, second, "/chatter", *first_at)
    inner = lambda: run_callback(relay, second, relay.timers[0][0], lambda: publish(relay, second, "/filtered", *second_at))
    run_callback(relay, second, callback, inner)        # as a callback that spins
    callback = take(listener, third, "/filtered", *second_at)
    run_callback(listener, third, callback, lambda: None)


def late_names(plan, node):
    """On its first thread, when all is done: a callback whose address was another one's."""
    done, unknown = plan.counter(), plan.address()
    for thread in plan.threads:
        if thread.process == node.process and thread is not node.main:
            thread.post(done)
    node.main.wait(done, 2)
    at = node.timers[0][0]
    node.symbols[at] = "other::reused()"
    node.main.fire("ros2:rclcpp_callback_register", at, "other::reused()")
    run_callback(node, node.main, at, lambda: None)
    run_callback(node, node.main, unknown, lambda: None)        # registered before the trace began


# ---- Seastar ----

def seastar(plan):
    """Two processes with the same request ids; requests overlap; some are cancelled, before or after they are dispatched; tasks nest."""
    for process in (plan.process(), plan.process()):
        for shard in range(2):
            reactor(plan, plan.thread(process, f"reactor-{shard}"), shard)


def reactor(plan, thread, shard):
    waiting, there, ids = [], [], iter(range(shard, 1000000, 2))
    for _ in range(plan.size):
        plan.call(thread, "run_tasks", "run_tasks", thread.fire("seastar_reactor:run_tasks_start"))
        for group, name in ((0, "main"), (3, "statement"))[:plan.random.randrange(1, 3)]:
            plan.call(thread, "task", f"task {name}", thread.fire("seastar_reactor:task_start", group, name))
            for _ in range(plan.random.randrange(4)):
                io_step(plan, thread, waiting, there, ids)
            thread.nap()
            plan.leave(thread, thread.fire("seastar_reactor:task_end", group, 1))
        plan.leave(thread, thread.fire("seastar_reactor:run_tasks_end"))


def io_step(plan, thread, waiting, there, ids):
    what = plan.random.randrange(4)
    if what <= 1:
        number = next(ids)
        direction = plan.random.randrange(2)
        event = thread.fire("seastar_io:io_queue_queued", 7, number, direction, 1, 4096 * number, 4096)
        tags = {"fd": 7, "offset": 4096 * number, "length": 4096}
        io = plan.begin(thread, "io", f"io {direction}", event, thread.open[-1], tags)
        waiting.append((number, io, plan.begin(thread, "queue", "queue", event, io)))
    elif what == 2 and waiting:
        number, io, queue = waiting.pop(plan.random.randrange(len(waiting)))
        queue.end = thread.fire("seastar_io:io_queue_dispatched", number)
        there.append((number, io, plan.begin(thread, "device", "device", queue.end, io)))
    elif there:
        number, io, device = there.pop(plan.random.randrange(len(there)))
        device.end = io.end = thread.fire("seastar_io:io_queue_" + plan.random.choice(("completed", "cancelled")), number)
    elif waiting:
        number, io, queue = waiting.pop()
        io.end = queue.end = thread.fire("seastar_io:io_queue_cancelled", number)


# ---- librbd ----

def librbd(plan):
    """Calls nest; asynchronous ones end in another thread, in any order, and their completions' addresses are used again."""
    process = plan.process()
    client, worker = plan.thread(process, "fio"), plan.thread(process, "io_context")
    image, completions = plan.address(), [plan.address() for _ in range(4)]
    for _ in range(plan.size):
        counter, begun = plan.counter(), []
        call_rbd(plan, client, image)
        for completion in plan.random.sample(completions, plan.random.randrange(1, 4)):
            begun.append((completion, aio(plan, client, image, completion)))
        client.post(counter)
        worker.wait(counter)
        plan.random.shuffle(begun)
        for completion, span in begun:
            result = plan.random.choice((4096, 0, -5))
            plan.call(worker, "librbd", "aio_complete", worker.fire("librbd:aio_complete_enter", completion, result))
            span.end, span.error = (worker.number, worker.n - 1), result < 0
            worker.nap()
            plan.leave(worker, worker.fire("librbd:aio_complete_exit"))
        worker.post(counter)
        client.wait(counter, 2)


def call_rbd(plan, thread, image, depth=0):
    what = plan.random.choice(("read", "write", "flush"))
    more = () if what == "flush" else (plan.random.randrange(1 << 30), 4096)
    plan.call(thread, "librbd", what, thread.fire(f"librbd:{what}_enter", image, "vol", "", 0, *more))
    thread.nap()
    if depth < 3 and plan.random.random() < 0.5:
        call_rbd(plan, thread, image, depth + 1)
    result = plan.random.choice((0, -2))
    plan.leave(thread, thread.fire(f"librbd:{what}_exit", result), result < 0)


def aio(plan, thread, image, completion):
    what, offset = plan.random.choice(("aio_read", "aio_write")), plan.random.randrange(1 << 30)
    event = thread.fire(f"librbd:{what}_enter", image, "vol", "", 0, offset, 4096, completion)
    plan.call(thread, "librbd", what, event)
    span = plan.begin(thread, "aio", f"rbd {what[4:]}", event, thread.open[-1], {"name": "vol", "off": offset, "len": 4096})
    plan.leave(thread, thread.fire(f"librbd:{what}_exit", 0))
    return span


# ---- locks ----

def pthread(plan):
    """Two threads hand a lock to each other; each takes two others hand over hand, so that holds overlap."""
    process = plan.process()
    a, b = plan.thread(process, "locker-0"), plan.thread(process, "locker-1")
    shared, own = plan.address(), [[plan.address(), plan.address()] for _ in range(2)]
    for _ in range(plan.size):
        for thread, (first, second) in zip((a, b), own):
            holds = [lock(plan, thread, first), lock(plan, thread, second)]
            for mutex, hold in zip((first, second), holds):
                hold.end = thread.fire("lttng_ust_pthread:pthread_mutex_unlock", mutex, 0)
        owned, wanted, freed = plan.counter(), plan.counter(), plan.counter()
        hold = lock(plan, a, shared)
        a.post(owned)
        b.wait(owned)
        waiting = want(plan, b, shared)
        b.post(wanted)
        a.wait(wanted)
        hold.end = a.fire("lttng_ust_pthread:pthread_mutex_unlock", shared, 0)
        a.post(freed)
        b.wait(freed)
        hold = acquire(plan, b, shared, waiting)
        hold.end = b.fire("lttng_ust_pthread:pthread_mutex_unlock", shared, 0)
        b.post(freed)
        a.wait(freed, 2)


def want(plan, thread, mutex):
    return plan.begin(thread, "lock wait", f"wait {mutex}", thread.fire("lttng_ust_pthread:pthread_mutex_lock_req", mutex))


def acquire(plan, thread, mutex, waiting):
    waiting.end = thread.fire("lttng_ust_pthread:pthread_mutex_lock_acq", mutex, 0)
    return plan.begin(thread, "lock hold", f"hold {mutex}", waiting.end)


def lock(plan, thread, mutex):
    return acquire(plan, thread, mutex, want(plan, thread, mutex))


# ---- NFS-Ganesha ----

def ganesha(plan):
    """Requests end on another thread; the operations of a request nest on theirs."""
    process = plan.process()
    worker, other = plan.thread(process, "svc_12"), plan.thread(process, "svc_7")
    requests = [plan.address() for _ in range(3)]
    for i in range(plan.size):
        request, counter = requests[i % 3], plan.counter()
        plan.call(worker, "nfs", "nfs request", worker.fire("nfs_rpc:start", request))
        for position in range(plan.random.randrange(1, 4)):
            op, name = plan.random.choice(((25, "read"), (38, "write"), (15, "lookup"), (9, "getattr")))
            plan.call(worker, "v4op", f"op {op}", worker.fire("nfs_rpc:v4op_start", position, op))
            plan.call(worker, "nfs4", name, worker.fire(f"nfs4:op_{name}_start", "file" if name == "lookup" else 1))
            result = plan.random.choice((0, 0, 70))
            plan.leave(worker, worker.fire(f"nfs4:op_{name}_end", result), result != 0)
            plan.leave(worker, worker.fire("nfs_rpc:v4op_end", position, op, result), result != 0)
        ends = plan.random.choice((worker, other))
        worker.post(counter)
        ends.wait(counter)
        plan.leave(worker, ends.fire("nfs_rpc:end", request))
        ends.post(counter)
        worker.wait(counter, 2)


# ---- THAPI ----

def thapi(plan):
    """Calls of hundreds of functions, also by themselves, on several threads and processes."""
    for process in (plan.process(), plan.process()):
        for number in range(2):
            thread = plan.thread(process, f"gpu-{number}")
            for _ in range(plan.size):
                call_cuda(plan, thread, 0)


def call_cuda(plan, thread, depth):
    name, at, size = f"cuCall{plan.random.randrange(plan.n_functions)}", plan.address(), plan.random.randrange(1 << 40)
    plan.call(thread, "cuda", name, thread.fire(f"lttng_ust_cuda:{name}_entry", at, size), {"dptr": at, "bytesize": size})
    thread.nap()
    for _ in range(plan.random.randrange(3) if depth < 5 else 0):
        call_cuda(plan, thread, depth + 1)
    result = plan.random.choice((0, 0, 0, 700))
    plan.leave(thread, thread.fire(f"lttng_ust_cuda:{name}_exit", result), result != 0)


# ---- Valkey ----

COMMANDS = ("get", "set", "lpush", "zadd", "config|get")


def valkey(plan):
    """Releases that fire an event with the duration at the end, and those that fire one at the beginning, too. Commands run inside the event
    loop's turns; a second thread writes the file."""
    for pairs in False, True:
        process = plan.process()
        main, writer = plan.thread(process, "valkey-server"), plan.thread(process, "bio_aof")
        for _ in range(plan.size):
            for _ in range(plan.random.randrange(1, 4)):
                command(plan, main, pairs)
            write_file(plan, writer, pairs)


def command(plan, thread, pairs):
    name, port, microseconds = plan.random.choice(COMMANDS), plan.random.randrange(40000, 40004), plan.random.choice((0, 3, 250, 70000))
    peer = plan.random.randrange(-1, 4), f"127.0.0.1:{port}", "127.0.0.1:6379", name
    if pairs:
        plan.call(thread, "command pair", name, thread.fire("valkey_commands:command_call_entry", *peer), {"addr": peer[1]})
        thread.nap()
        plan.leave(thread, thread.fire("valkey_commands:command_call", *peer, microseconds))
    else:
        thread.fire("valkey_commands:command_call", *peer, microseconds)
        thread.fire("valkey_server:" + plan.random.choice(("command", "while_blocked_cron")), microseconds)


def write_file(plan, thread, pairs):
    if pairs:
        plan.call(thread, "aof", "aof_write", thread.fire("valkey_aof:aof_write_entry"))
        thread.nap()
        plan.leave(thread, thread.fire("valkey_aof:aof_write_exit"))
    else:
        thread.fire("valkey_aof:aof_write", plan.random.randrange(1000))
        thread.fire("valkey_aof:aof_fsync_always", plan.random.randrange(100000))


# ---- agents ----

def agents(plan):
    """Log events inside and outside of calls, on two threads."""
    process = plan.process()
    for number in range(2):
        thread = plan.thread(process, f"worker-{number}")
        for _ in range(plan.size):
            log(plan, thread)
            call_cuda(plan, thread, 4)
            for name in ("cuCall0", "cuCall1"):
                plan.call(thread, "cuda", name, thread.fire(f"lttng_ust_cuda:{name}_entry", 0, 0), {"dptr": Address(0), "bytesize": 0})
                log(plan, thread)
            for name in ("cuCall1", "cuCall0"):
                plan.leave(thread, thread.fire(f"lttng_ust_cuda:{name}_exit", 0))
                log(plan, thread)


def log(plan, thread):
    text = plan.random.choice(("ready", "cannot open \"x\"", "50 % \u00e9", "a: b"))
    if plan.random.random() < 0.5:
        level, severity = plan.random.choice(((300, "trace"), (500, "debug"), (800, "info"), (900, "warning"), (1000, "error")))
        event = thread.fire("lttng_jul:event", text, "org.app", "Main", "run", 1700000000000, level, 1)
        text = "org.app: " + text
    else:
        level, severity = plan.random.choice(((10, "debug"), (20, "info"), (30, "warning"), (40, "error"), (50, "fatal")))
        event = thread.fire("lttng_python:event", "2026-01-01 00:00:00", text, "app", "run", 42, level, 7, "MainThread")
    plan.notes.append((thread.open[-1] if thread.open else None, event, text, severity))


# Rules of presets that mean the same as those of programs.rules: preset, rules.
OF_PRESETS = {
    "callback": ("ros2", "callback"), "io": ("seastar", "io"), "queue": ("seastar", "queue"), "device": ("seastar", "device"),
    "run_tasks": ("seastar", "tasks"), "task": ("seastar", "task"), "librbd": ("ceph", "librbd"), "aio": ("ceph", "aio_read", "aio_write"),
    "lock wait": ("pthread", "wait"), "lock hold": ("pthread", "hold"), "nfs": ("ganesha", "rpc"), "nfs4": ("ganesha", "nfs4"),
    "cuda": ("thapi", "cuda"),
}

PROGRAMS = {f.__name__: f for f in (ros2, seastar, librbd, pthread, ganesha, thapi, valkey, agents)}
