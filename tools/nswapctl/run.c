// SPDX-License-Identifier: GPL-2.0
/*
 * Running programs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "run.h"

#define PLAIN	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"

int run_words(const char *const *word, int out, int err)
{
	bool own = !strcmp(word[0], "nswapctl");
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		setenv("PATH", RUN_PATH, 1);
		if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
			_exit(1);
		execvp(own ? "/proc/self/exe" : word[0], (char *const *)word);
		fprintf(stderr, "nswapctl: there is no program %s\n", word[0]);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

char *run_quoted(const char *word)
{
	bool plain = *word && !word[strspn(word, PLAIN)];
	size_t len = 0;
	char *text;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		ctl_refuse("no memory");
	fputs(plain ? word : "'", f);
	for (; !plain && *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			putc(*word, f);
	fputs(plain ? "" : "'", f);
	fclose(f);
	return text;
}
