// SPDX-License-Identifier: GPL-2.0
/*
 * What can be seen of the owner of a machine: input devices (evdev), terminals, and what
 * programs use of the processors.
 *
 * Invariants:
 *  - When looking begins the last key is taken to be just now, and programs to be busy
 *    until they have been looked at: nothing is known of before.
 *  - While the owner is here devices are looked at once in a while, however many events
 *    come; while the owner is away the first one ends the wait.
 *  - An event is only counted: which key it was is not looked at, and nothing is kept. A lid
 *    that is opened, a device that is plugged in and the end of a suspend count as one.
 *  - A terminal has the time of what was typed in it only to 8 seconds (the kernel does not
 *    tell it more exactly), an input device at once. What is kept of terminals is when the
 *    latest of their times changed: one that is closed, or a clock that is set, takes
 *    nothing of that away.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "owner.h"

#define DEVICES		256
#define AGAIN_S		1	/* devices come and go */
#define ASLEEP_S	2	/* between two looks */
#define MINUTE_S	60
#define NOW_S		5
#define CPU_S		0.5	/* between two looks, at least */

static const char *input_folder, *terminal_folder, *cpu_file;
static struct pollfd input[DEVICES];
static char input_name[DEVICES][32];
static size_t nr_inputs;
static double typed_at = -1, typed_time;	/* in a terminal; its own time */
static double last_key, last_scan, slept, begun, last_cpu, cpu_ticks, cpu_minute, cpu_now;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* of all processors, in the programs themselves; not what was niced */
static double user_ticks(void)
{
	unsigned long long user = 0;
	FILE *f = fopen(cpu_file, "r");

	if (!f || fscanf(f, "cpu %llu", &user) != 1)
		ctl_refuse("%s does not say what programs use of the processors", cpu_file);
	fclose(f);
	return user;
}

static bool input_open(const char *name)
{
	size_t i;

	for (i = 0; i < nr_inputs; i++)
		if (!strcmp(input_name[i], name))
			return true;
	return false;
}

/* one that a person moves, not a sensor */
static bool input_of_person(int fd)
{
	unsigned char props[INPUT_PROP_MAX / 8 + 1] = { 0 };

	return ioctl(fd, EVIOCGPROP(sizeof(props)), props) < 0 ||
	       !(props[INPUT_PROP_ACCELEROMETER / 8] & 1 << INPUT_PROP_ACCELEROMETER % 8);
}

static void input_add(int folder, const char *name)
{
	int fd;

	if (strncmp(name, "event", 5) || nr_inputs == DEVICES || input_open(name) ||
	    strlen(name) >= sizeof(input_name[0]))
		return;
	fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		ctl_refuse("%s/%s cannot be read by this user: run it as root, or with input-idle = 0",
			   input_folder, name);
	if (fd < 0)
		return;
	if (!input_of_person(fd)) {
		close(fd);
		return;
	}
	input[nr_inputs] = (struct pollfd){ .fd = fd, .events = POLLIN };
	strcpy(input_name[nr_inputs++], name);
	last_key = seconds(CLOCK_BOOTTIME);
}

/* devices that are new */
static void input_scan(void)
{
	DIR *d = input_folder ? opendir(input_folder) : NULL;
	struct dirent *e;

	last_scan = seconds(CLOCK_BOOTTIME);
	if (!d)
		return;
	while ((e = readdir(d)))
		input_add(dirfd(d), e->d_name);
	closedir(d);
}

static void input_drop(size_t i)
{
	close(input[i].fd);
	nr_inputs--;
	if (i == nr_inputs)
		return;
	input[i] = input[nr_inputs];
	strcpy(input_name[i], input_name[nr_inputs]);
}

/* take what has come; true if a person did it. @gone: the device is not there any more */
static bool input_read(int fd, bool *gone)
{
	struct input_event e[64];
	bool key = false;
	ssize_t len;
	size_t i;

	*gone = false;
	while ((len = read(fd, e, sizeof(e))) > 0)
		for (i = 0; i < len / sizeof(*e); i++)
			key = key || e[i].type == EV_KEY || e[i].type == EV_REL ||
			      e[i].type == EV_ABS || e[i].type == EV_SW ||
			      (e[i].type == EV_SYN && e[i].code == SYN_DROPPED);
	*gone = !len || errno != EAGAIN;
	return key;
}

/* "tty", "tty1", or only digits, as in pts; not lines to other machines, as ttyS0 */
static bool is_terminal(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return !strncmp(name, prefix, len) && (*prefix || name[len]) &&
	       !name[len + strspn(name + len, "0123456789")];
}

/* the latest time at which something was typed in one of a folder; 0 without any */
static double terminals_used(const char *folder, const char *prefix, double now)
{
	double last = 0, used;
	struct dirent *e;
	struct stat st;
	DIR *d = opendir(folder);

	while (d && (e = readdir(d))) {
		if (!is_terminal(e->d_name, prefix) ||
		    fstatat(dirfd(d), e->d_name, &st, 0) || S_ISDIR(st.st_mode))
			continue;
		used = st.st_atim.tv_sec + st.st_atim.tv_nsec / 1e9;
		/* of before the clock was set back, perhaps */
		if (used > last && used <= now + 1)
			last = used;
	}
	if (d)
		closedir(d);
	return last;
}

static double terminal_idle(void)
{
	double now = seconds(CLOCK_REALTIME), up = seconds(CLOCK_BOOTTIME), here, remote;
	char pts[4096];

	snprintf(pts, sizeof(pts), "%s/pts", terminal_folder);
	here = terminals_used(terminal_folder, "tty", now);
	remote = terminals_used(pts, "", now);
	if (remote > here)
		here = remote;
	if (here > typed_time)
		typed_at = now > here ? up - (now - here) : up;
	typed_time = here;
	return typed_at < 0 && !here ? -1 : up - typed_at;
}

/* a mean over about @span seconds, of fewer while looking has not gone on for so long */
static double cpu_mean(double mean, double pct, double passed, double span, double since)
{
	double part = 1 - exp(-passed / span);

	if (part < passed / since)
		part = passed / since;
	return part >= 1 ? pct : mean + (pct - mean) * part;
}

static void cpu_look(void)
{
	double now = seconds(CLOCK_MONOTONIC), passed = now - last_cpu, ticks, pct;

	if (passed < CPU_S)
		return;
	ticks = user_ticks();
	pct = (ticks - cpu_ticks) * 100 / sysconf(_SC_CLK_TCK) / passed;
	cpu_minute = cpu_mean(cpu_minute, pct, passed, MINUTE_S, now - begun);
	cpu_now = cpu_mean(cpu_now, pct, passed, NOW_S, now - begun);
	last_cpu = now;
	cpu_ticks = ticks;
}

/* wait, and take what devices have; true if a key came */
static bool input_look(int ms, bool key_ends)
{
	bool key = false, gone;
	size_t i;

	if (!key_ends)
		poll(NULL, 0, ms);
	poll(input, nr_inputs, key_ends ? ms : 0);
	for (i = nr_inputs; i--;) {
		if (!input[i].revents)
			continue;
		key = input_read(input[i].fd, &gone) || key;
		if (gone)
			input_drop(i);
	}
	return key;
}

void owner_look_at(const char *inputs, const char *terminals, const char *cpu)
{
	input_folder = inputs;
	terminal_folder = terminals;
	cpu_file = cpu;
	input_scan();
	begun = last_cpu = seconds(CLOCK_MONOTONIC);
	last_key = seconds(CLOCK_BOOTTIME);
	slept = last_key - begun;
	cpu_ticks = user_ticks();
	cpu_minute = cpu_now = INFINITY;
}

void owner_look(struct owner_seen *seen, int ms, bool key_ends)
{
	bool key = input_look(ms, key_ends);
	double asleep;
	struct tm tm;
	time_t t;

	asleep = seconds(CLOCK_BOOTTIME) - seconds(CLOCK_MONOTONIC);
	if (key || asleep - slept > ASLEEP_S)
		last_key = seconds(CLOCK_BOOTTIME);
	slept = asleep;
	if (seconds(CLOCK_BOOTTIME) - last_scan >= AGAIN_S)
		input_scan();
	cpu_look();
	t = time(NULL);
	tzset();
	localtime_r(&t, &tm);
	*seen = (struct owner_seen){
		.input_idle = nr_inputs ? seconds(CLOCK_BOOTTIME) - last_key : -1,
		.terminal_idle = terminal_idle(),
		.cpu_minute = cpu_minute, .cpu_now = cpu_now,
		.now = seconds(CLOCK_BOOTTIME),
		.minute = tm.tm_hour * 60 + tm.tm_min,
	};
}
