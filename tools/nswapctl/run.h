/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running programs.
 */
#ifndef NSWAPCTL_RUN_H
#define NSWAPCTL_RUN_H

/* where programs are looked for, whatever the caller's environment says */
#define RUN_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * Runs the program @word[0] with these words, up to a NULL, and waits; "nswapctl" is this
 * program. What it prints goes to @out, what it complains about to @err. Returns what
 * waitpid() says, -1 if that failed.
 */
int run_words(const char *const *word, int out, int err);

/*
 * A word as it is to be typed, in quotes if /bin/sh would make something else of it; to be
 * freed.
 */
char *run_quoted(const char *word);

#endif
