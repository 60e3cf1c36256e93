/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals while the screen is active. Signals that end or stop the program, and changes of the size, are recorded,
 * and a pipe becomes readable. Signals of a crash restore the terminal with a string that was prepared, and are
 * raised again.
 */
#ifndef BLK_UI_TERM_SIGNAL_H
#define BLK_UI_TERM_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>

/* Before curses starts: stores the modes of `tty_fd`, installs the handlers. */
void term_signal_begin(int tty_fd);
/* What to write to the terminal in a crash (copied), and the original stderr. */
void term_signal_leave(const char *s, size_t len, int stderr_fd);
/* After curses has ended: restores the old handlers. */
void term_signal_end(void);
void term_signal_stop_self(void);	/* stops the process, as SIGTSTP does by default */

/* Readable when a signal came. */
int term_signal_fd(void);
struct term_signals {
	int end;		/* SIGINT, SIGTERM or SIGHUP: quit; 0: none */
	bool stop, resumed, resized;
};
/* The signals that came since the last call. */
struct term_signals term_signals(void);

#endif
