"""Who may include whom, and what each layer is the only place for: doc/architecture.md has the same table."""

# A layer, and the layers whose headers it may include. "trace/event.h" means that header alone.
MAY = {
    "base": [],
    "trace": ["base"],
    "live": ["trace", "base"],
    "state": ["trace/event.h", "base"],
    "run": ["trace", "live", "state", "base"],
    "views": ["state", "base"],
    "export": ["views", "state", "base"],
    "send": ["live", "export", "views", "state", "base"],
    "ui": ["views", "base"],
    "app": ["base", "trace", "live", "state", "run", "views", "export", "send", "ui"],
    "cli": ["base", "live", "state", "views", "export", "send", "ui", "app"],
    "cmd": ["base", "trace", "live", "state", "run", "views", "export", "send", "ui", "app", "cli"],
    "": ["base", "trace", "live", "state", "run", "views", "export", "send", "ui", "app", "cli", "cmd"],  # main
}

# The filter of system calls compares their arguments with constants of all kinds.
CONSTANTS = "src/base/isolation_calls.c"
# What has one place: the layers it may be used in, headers and calls.
ONLY = {
    "babeltrace2": (["trace"], r"babeltrace2?/.*", r"\bbt_\w+\s*\("),
    "lttng-ctl": (["live"], r"lttng/.*", r"\blttng_\w+\s*\("),
    "sockets": (["live", "base", "send"], r"sys/socket\.h|sys/un\.h|netdb\.h|netinet/.*|arpa/.*",
                r"\b(socket|connect|recv|send|getaddrinfo|g_socket_\w+|g_network_\w+)\s*\("),
    "threads": (["run", "live", "send"], r"pthread\.h|threads\.h", r"\b(g_thread_\w+|pthread_(?!sigmask)\w+|thrd_\w+)\s*\("),
    "libsoup": (["send"], r"libsoup/.*", r"\bsoup_\w+\s*\("),
    "libzstd": (["trace"], r"zstd\.h", r"\bZSTD_\w+\s*\("),
    "ncurses": (["ui"], r"(n?cursesw?/)?n?curses\.h|term\.h|panel\.h", r"\b(initscr|newterm|endwin|wget_wch|doupdate)\s*\("),
    "libseccomp": (["base"], r"seccomp\.h", r"\bseccomp_\w+\s*\("),
    "popt": (["cli"], r"popt\.h", r"\bpopt[A-Z]\w+\s*\("),
}
