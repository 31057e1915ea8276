// SPDX-License-Identifier: GPL-2.0
/*
 * A full screen, by the control sequences that every terminal since the VT100
 * has. Signals are read in one place, so none comes while the screen is drawn.
 *
 * Invariant: shown, the terminal is in our mode and has our screen; else it is
 * as it was.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "screen.h"

/* another screen, no cursor; and back */
#define ENTER	"\033[?1049h\033[?25l\033[2J"
#define LEAVE	"\033[?25h\033[?1049l"

static struct termios before;
static bool shown;
static int signals = -1;
static char keys[32];
static size_t nr_keys;

/* what cannot be written is a terminal that is gone: screen_wait() sees it */
void screen_show(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (n > 0) {
			text += n;
			len -= n;
		}
	}
}

static void screen_begin(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	screen_show(ENTER, strlen(ENTER));
	shown = true;
}

void screen_leave(void)
{
	if (!shown)
		return;
	shown = false;
	screen_show(LEAVE, strlen(LEAVE));
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void screen_refused(const char *why)
{
	(void)why;
	screen_leave();
}

void screen_enter(void)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP,
				     SIGCONT, SIGWINCH };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (signals < 0 || tcgetattr(STDIN_FILENO, &before))
		ctl_refuse("this terminal cannot be used: %s", strerror(errno));
	ctl_before_refusal = screen_refused;
	atexit(screen_leave);
	screen_begin();
}

void screen_size(unsigned int *rows, unsigned int *cols)
{
	struct winsize size;

	*rows = 24;
	*cols = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col) {
		*rows = size.ws_row;
		*cols = size.ws_col;
	}
}

/* until a shell continues it; that signal is none to act upon again */
static void screen_stop(void)
{
	const struct timespec now = { };
	sigset_t cont;

	screen_leave();
	raise(SIGSTOP);
	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	sigtimedwait(&cont, NULL, &now);
	screen_begin();
}

static int take_signal(void)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return SCREEN_END;
	switch (info.ssi_signo) {
	case SIGTSTP:
		screen_stop();
		return SCREEN_RESIZED;
	case SIGCONT:	/* after a SIGSTOP from elsewhere: a shell had it */
		screen_begin();
		return SCREEN_RESIZED;
	case SIGWINCH:
		return SCREEN_RESIZED;
	default:
		return SCREEN_END;
	}
}

/* the first key that was read, an arrow being three characters */
static int take_key(void)
{
	static const int arrows[] = { SCREEN_UP, SCREEN_DOWN, SCREEN_RIGHT,
				      SCREEN_LEFT };
	size_t used = 1;
	int key = keys[0];

	if (key == '\033') {
		key = SCREEN_RESIZED;	/* of no meaning: draw again */
		if (nr_keys >= 3 && (keys[1] == '[' || keys[1] == 'O')) {
			used = 3;
			if (keys[2] >= 'A' && keys[2] <= 'D')
				key = arrows[keys[2] - 'A'];
		}
	}
	nr_keys -= used;
	memmove(keys, keys + used, nr_keys);
	return key;
}

static int read_keys(void)
{
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n <= 0)
		return SCREEN_END;
	nr_keys = n;
	return take_key();
}

int screen_wait(int ms)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};

	if (nr_keys)
		return take_key();
	if (poll(fds, 2, ms) <= 0)
		return SCREEN_TIME;
	return fds[0].revents ? take_signal() : read_keys();
}
