// SPDX-License-Identifier: GPL-2.0
/*
 * The agent: process 1 of a test guest. It brings the guest up, then runs
 * what the host asks for over a virtio-serial port and reports back there.
 *
 * Invariants: every byte on the port is part of a frame {length, id, kind,
 * payload}; nothing else writes to the port, and the agent writes nothing
 * but frames (its complaints before the port is open go to the console). All
 * of its memory is locked and preallocated, so it answers while the guest is
 * short of memory; reading and writing files needs no new process. Every
 * frame of a command comes before its EXIT frame.
 *
 * Host to guest: R run (limit in bytes as u64, then the arguments, each
 * ended by a NUL), K signal (i32), r read a file, w write one (path, NUL,
 * data), Q stop (a reboot, which ends QEMU). Guest to host: H hello (kernel release), O and E the
 * command's output, X exit (i32, minus the signal's number if one ended it),
 * D data of a file, F the end of r or w (i32, an errno or 0).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define PORT_NAME	"nswap.agent"
#define MAX_RUNS	64
#define MAX_ARGS	256
#define FRAME_MAX	(256 * 1024)
#define CHUNK		16384
#define CGROUPS		"/sys/fs/cgroup"

struct frame {
	uint32_t len;
	uint32_t id;
	uint32_t kind;
};

/* A command that runs; pid 0 means a free entry. */
struct run {
	pid_t pid;
	uint32_t id;
	int fd[2];
	int exited;
	int status;
	int limited;
};

static struct run runs[MAX_RUNS];
static char in_buf[FRAME_MAX];
static char io_buf[CHUNK];
static int port = -1;

static void fail(const char *what)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
	sync();
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			fail("the port is gone");
		p += n;
		len -= n;
	}
}

static void read_all(int fd, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			fail("the host closed the port");
		p += n;
		len -= n;
	}
}

static void send_frame(uint32_t id, char kind, const void *data, size_t len)
{
	static char out[sizeof(struct frame) + CHUNK];
	struct frame f = { .len = len, .id = id, .kind = kind };

	memcpy(out, &f, sizeof(f));
	memcpy(out + sizeof(f), data, len);
	write_all(port, out, sizeof(f) + len);
}

static void send_number(uint32_t id, char kind, int32_t value)
{
	send_frame(id, kind, &value, sizeof(value));
}

/* Write @text into a file in one call; returns 0 or an errno. */
static int put_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, len) < 0)
		err = errno;
	if (close(fd) < 0 && !err)
		err = errno;
	return err;
}

static void do_read(uint32_t id, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int err = 0;
	ssize_t n;

	if (fd < 0) {
		send_number(id, 'F', errno);
		return;
	}
	while ((n = read(fd, io_buf, sizeof(io_buf))) != 0) {
		if (n < 0) {
			if (errno == EPIPE || errno == EINTR)
				continue;
			err = errno == EAGAIN ? 0 : errno;
			break;
		}
		send_frame(id, 'D', io_buf, n);
	}
	close(fd);
	send_number(id, 'F', err);
}

static void cgroup_name(char *buf, size_t size, uint32_t id, const char *file)
{
	snprintf(buf, size, CGROUPS "/run%u%s", id, file);
}

/* In the child: a fresh memory cgroup with a limit, and into it. */
static int enter_limit(uint32_t id, uint64_t limit)
{
	char path[128], text[32];
	int err;

	cgroup_name(path, sizeof(path), id, "");
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return errno;
	cgroup_name(path, sizeof(path), id, "/memory.max");
	err = put_file(path, text, snprintf(text, sizeof(text), "%llu",
					    (unsigned long long)limit));
	if (err)
		return err;
	cgroup_name(path, sizeof(path), id, "/cgroup.procs");
	return put_file(path, "0", 1);
}

static void child(uint32_t id, uint64_t limit, char **argv, int out, int err)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(open("/dev/null", O_RDWR), 0);
	dup2(out, 1);
	dup2(err, 2);
	put_file("/proc/self/oom_score_adj", "0", 1);
	if (limit && (errno = enter_limit(id, limit))) {
		fprintf(stderr, "agent: no memory limit: %s\n", strerror(errno));
		_exit(126);
	}
	execvp(argv[0], argv);
	fprintf(stderr, "agent: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void do_run(uint32_t id, char *data, size_t len)
{
	char *argv[MAX_ARGS + 1];
	int out[2], err[2], argc = 0;
	struct run *r = NULL;
	uint64_t limit;

	memcpy(&limit, data, sizeof(limit));
	for (char *p = data + sizeof(limit); p < data + len && argc < MAX_ARGS;
	     p += strlen(p) + 1)
		argv[argc++] = p;
	argv[argc] = NULL;
	for (int i = 0; i < MAX_RUNS && !r; i++)
		if (!runs[i].pid)
			r = &runs[i];
	if (!r || !argc || pipe2(out, O_CLOEXEC | O_NONBLOCK)) {
		send_number(id, 'X', 125);
		return;
	}
	if (pipe2(err, O_CLOEXEC | O_NONBLOCK)) {
		close(out[0]);
		close(out[1]);
		send_number(id, 'X', 125);
		return;
	}
	/* Only the reading ends are non-blocking. */
	fcntl(out[1], F_SETFL, 0);
	fcntl(err[1], F_SETFL, 0);
	r->id = id;
	r->fd[0] = out[0];
	r->fd[1] = err[0];
	r->exited = 0;
	r->limited = limit != 0;
	r->pid = fork();
	if (!r->pid)
		child(id, limit, argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	if (r->pid < 0) {
		send_frame(id, 'E', "agent: cannot fork\n", 19);
		send_number(id, 'X', 125);
		close(out[0]);
		close(err[0]);
		r->pid = 0;
	}
}

static void do_kill(uint32_t id, int32_t sig)
{
	for (int i = 0; i < MAX_RUNS; i++)
		if (runs[i].pid && runs[i].id == id && !runs[i].exited)
			kill(-runs[i].pid, sig);
}

/* Pass on what a command wrote; the pipe is closed at its end. */
static void drain(struct run *r, int which)
{
	ssize_t n;

	if (r->fd[which] < 0)
		return;
	while ((n = read(r->fd[which], io_buf, sizeof(io_buf))) > 0)
		send_frame(r->id, which ? 'E' : 'O', io_buf, n);
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(r->fd[which]);
		r->fd[which] = -1;
	}
}

static void finish(struct run *r)
{
	char path[128];

	for (int i = 0; i < 2; i++) {
		drain(r, i);
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	}
	if (r->limited) {
		cgroup_name(path, sizeof(path), r->id, "");
		rmdir(path);
	}
	send_number(r->id, 'X', WIFSIGNALED(r->status) ?
		    -WTERMSIG(r->status) : WEXITSTATUS(r->status));
	r->pid = 0;
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (int i = 0; i < MAX_RUNS; i++) {
			if (runs[i].pid != pid)
				continue;
			runs[i].status = status;
			finish(&runs[i]);
		}
	}
}

static void handle_frame(void)
{
	struct frame f;
	char *data;

	read_all(port, &f, sizeof(f));
	if (f.len >= sizeof(in_buf)) {
		errno = EMSGSIZE;
		fail("a frame from the host");
	}
	read_all(port, in_buf, f.len);
	in_buf[f.len] = 0;
	switch (f.kind) {
	case 'R':
		do_run(f.id, in_buf, f.len);
		break;
	case 'K':
		do_kill(f.id, *(int32_t *)in_buf);
		break;
	case 'r':
		do_read(f.id, in_buf);
		break;
	case 'w':
		data = in_buf + strlen(in_buf) + 1;
		send_number(f.id, 'F', put_file(in_buf, data,
						in_buf + f.len - data));
		break;
	case 'Q':
		sync();
		reboot(RB_AUTOBOOT);
		break;
	default:
		errno = EPROTO;
		fail("a frame from the host");
	}
}

/* Modules in the order of /modules/order, deleted once loaded. */
static void load_modules(void)
{
	FILE *list = fopen("/modules/order", "r");
	char name[128], path[256];

	if (!list)
		fail("/modules/order");
	while (fscanf(list, "%127s", name) == 1) {
		int fd;

		snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			fail(path);
		close(fd);
		unlink(path);
	}
	fclose(list);
}

static int try_port(const char *name)
{
	char path[320], text[64];
	FILE *f;
	int same;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", name);
	f = fopen(path, "r");
	if (!f)
		return -1;
	same = fscanf(f, "%63s", text) == 1 && !strcmp(text, PORT_NAME);
	fclose(f);
	if (!same)
		return -1;
	snprintf(path, sizeof(path), "/dev/%s", name);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* The port appears some time after its driver is loaded. */
static void open_port(void)
{
	for (int tries = 0; port < 0 && tries < 1000; tries++) {
		DIR *dir = opendir("/sys/class/virtio-ports");
		struct dirent *e;

		while (dir && port < 0 && (e = readdir(dir)))
			if (e->d_name[0] != '.')
				port = try_port(e->d_name);
		if (dir)
			closedir(dir);
		if (port < 0)
			usleep(20000);
	}
	if (port < 0)
		fail("no port named " PORT_NAME);
}

static void set_up(void)
{
	mount("none", "/proc", "proc", 0, NULL);
	mount("none", "/sys", "sysfs", 0, NULL);
	mount("none", "/dev", "devtmpfs", 0, NULL);
	mount("none", CGROUPS, "cgroup2", 0, NULL);
	put_file(CGROUPS "/cgroup.subtree_control", "+memory", 7);
	put_file("/proc/self/oom_score_adj", "-1000", 5);
	setenv("PATH", "/bin:/sbin", 1);
	setenv("HOME", "/", 1);
	load_modules();
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fail("mlockall");
	open_port();
}

int main(void)
{
	struct pollfd p[2 + 2 * MAX_RUNS];
	struct signalfd_siginfo si;
	struct utsname u;
	sigset_t chld;
	int signals;

	set_up();
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		fail("signalfd");
	uname(&u);
	send_frame(0, 'H', u.release, strlen(u.release));
	for (;;) {
		p[0] = (struct pollfd){ .fd = port, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = signals, .events = POLLIN };
		for (int i = 0; i < MAX_RUNS; i++)
			for (int k = 0; k < 2; k++)
				p[2 + 2 * i + k] = (struct pollfd){
					.fd = runs[i].pid ? runs[i].fd[k] : -1,
					.events = POLLIN };
		if (poll(p, 2 + 2 * MAX_RUNS, -1) < 0 && errno != EINTR)
			fail("poll");
		for (int i = 0; i < MAX_RUNS; i++)
			for (int k = 0; k < 2; k++)
				if (runs[i].pid && p[2 + 2 * i + k].revents)
					drain(&runs[i], k);
		if (p[0].revents & POLLIN)
			handle_frame();
		if (p[1].revents & POLLIN) {
			while (read(signals, &si, sizeof(si)) == sizeof(si))
				;
			reap();
		}
	}
}
