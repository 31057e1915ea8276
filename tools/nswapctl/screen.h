/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A full screen: the terminal as it was is back when the program ends,
 * whatever ends it, and while it is stopped.
 */
#ifndef NSWAPCTL_SCREEN_H
#define NSWAPCTL_SCREEN_H

#include <stddef.h>

enum screen_event {
	SCREEN_TIME = 0,	/* the time is over */
	SCREEN_RESIZED = 256,	/* or continued after a stop: draw again */
	SCREEN_END,		/* a signal says so, or the terminal is gone */
	SCREEN_UP,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
};

void screen_enter(void);
void screen_leave(void);

/* rows and columns; 24 and 80 if it does not say */
void screen_size(unsigned int *rows, unsigned int *cols);

/* one of the above or a character, after @ms at most */
int screen_wait(int ms);

/* all at once, so that nothing flickers */
void screen_show(const char *text, size_t len);

#endif
