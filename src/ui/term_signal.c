/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals while the screen is up: see term_signal.h. */
#include "ui/term_signal.h"

#include <glib.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LEAVE_MAX 512
#define ALT_STACK 65536

static const int polite[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH };
static const int fatal[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS };

static struct {
	bool begun;
	int pipe[2];
	int tty_fd, stderr_fd;
	bool have_modes;
	struct termios modes;
	char leave[LEAVE_MAX];
	size_t leave_len;
	volatile sig_atomic_t end, stop, resumed, resized;
	struct sigaction old_polite[G_N_ELEMENTS(polite)], old_fatal[G_N_ELEMENTS(fatal)];
	stack_t old_stack;
	char *stack;
} sig = { .pipe = { -1, -1 }, .stderr_fd = -1 };

/* Async-signal-safe: the terminal as it was found. */
static void give_back(void)
{
	if (sig.leave_len && write(STDOUT_FILENO, sig.leave, sig.leave_len) < 0)
		sig.leave_len = 0;
	if (sig.have_modes)
		tcsetattr(sig.tty_fd, TCSADRAIN, &sig.modes);
	if (sig.stderr_fd >= 0)
		dup2(sig.stderr_fd, STDERR_FILENO);
}

static void on_polite(int signo)
{
	int saved = errno;

	switch (signo) {
	case SIGTSTP:
		sig.stop = 1;
		break;
	case SIGCONT:
		sig.resumed = 1;
		break;
	case SIGWINCH:
		sig.resized = 1;
		break;
	default:
		/* Asked twice: something keeps the program from leaving politely. */
		if (sig.end && signo != SIGHUP) {
			give_back();
			_exit(128 + signo);
		}
		sig.end = signo;
	}
	if (sig.pipe[1] >= 0 && write(sig.pipe[1], "s", 1) < 0)
		errno = saved;
	errno = saved;
}

static void say(const char *s)
{
	if (write(STDERR_FILENO, s, strlen(s)) < 0)
		return;
}

static void on_fatal(int signo)
{
	size_t i;
	char number[3] = { (char)('0' + signo / 10 % 10), (char)('0' + signo % 10), 0 };

	give_back();
	say("blktop " BLKTOP_VERSION ": crashed by signal ");
	say(signo < 10 ? number + 1 : number);
	say(". The terminal is as it was. Please report what you did and which trace it was;\n"
	    "a core file or `coredumpctl gdb blktop` shows where.\n");
	for (i = 0; i < G_N_ELEMENTS(fatal); i++)
		sigaction(fatal[i], &sig.old_fatal[i], NULL);
	raise(signo);		/* blocked until we return, then as if we had not been */
}

static void take(const int *list, size_t n, struct sigaction *old, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigfillset(&sa.sa_mask);
	for (size_t i = 0; i < n; i++) {
		sigaction(list[i], NULL, &old[i]);
		/* Started with nohup, or by a shell without job control: keep that. */
		if (old[i].sa_handler == SIG_IGN && (list[i] == SIGHUP || list[i] == SIGTSTP))
			continue;
		sigaction(list[i], &sa, NULL);
	}
}

void term_signal_begin(int tty_fd)
{
	stack_t stack = { .ss_size = ALT_STACK };

	if (sig.begun)
		return;
	sig.begun = true;
	sig.end = sig.stop = sig.resumed = sig.resized = 0;
	sig.tty_fd = tty_fd;
	sig.have_modes = tcgetattr(tty_fd, &sig.modes) == 0;
	sig.leave_len = 0;
	if (pipe2(sig.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		sig.pipe[0] = sig.pipe[1] = -1;
	sig.stack = g_malloc(ALT_STACK);
	stack.ss_sp = sig.stack;
	sigaltstack(&stack, &sig.old_stack);
	take(polite, G_N_ELEMENTS(polite), sig.old_polite, on_polite, 0);
	take(fatal, G_N_ELEMENTS(fatal), sig.old_fatal, on_fatal, SA_ONSTACK);
}

void term_signal_leave(const char *s, size_t len, int stderr_fd)
{
	sig.leave_len = MIN(len, sizeof sig.leave);
	memcpy(sig.leave, s, sig.leave_len);
	sig.stderr_fd = stderr_fd;
}

void term_signal_end(void)
{
	if (!sig.begun)
		return;
	sig.leave_len = 0;
	sig.stderr_fd = -1;
	for (size_t i = 0; i < G_N_ELEMENTS(polite); i++)
		sigaction(polite[i], &sig.old_polite[i], NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(fatal); i++)
		sigaction(fatal[i], &sig.old_fatal[i], NULL);
	if (!(sig.old_stack.ss_flags & SS_ONSTACK))
		sigaltstack(&sig.old_stack, NULL);
	g_clear_pointer(&sig.stack, g_free);
	for (int i = 0; i < 2; i++) {
		if (sig.pipe[i] >= 0)
			close(sig.pipe[i]);
		sig.pipe[i] = -1;
	}
	sig.begun = false;
}

void term_signal_stop_self(void)
{
	struct sigaction ours, plain = { .sa_handler = SIG_DFL };
	sigset_t set, old;

	sigaction(SIGTSTP, &plain, &ours);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, &old);
	kill(0, SIGTSTP);		/* the whole job, as the shell expects */
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGTSTP, &ours, NULL);
	sig.resumed = 0;
}

int term_signal_fd(void)
{
	return sig.pipe[0];
}

struct term_signals term_signals(void)
{
	struct term_signals s = { sig.end, sig.stop, sig.resumed, sig.resized };
	char drain[64];

	while (sig.pipe[0] >= 0 && read(sig.pipe[0], drain, sizeof drain) > 0)
		continue;
	sig.stop = sig.resumed = sig.resized = 0;
	return s;
}
