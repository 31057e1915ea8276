// SPDX-License-Identifier: GPL-2.0
/*
 * A library to put under a user-mode kernel (LD_PRELOAD): its disk has a cache that is
 * lost with the power. What a write replaces is kept until the kernel flushes the disk;
 * powercut.py puts back what had not been flushed, or some of it.
 *
 *   LAB_DISK=FILE   the disk's image
 *   LAB_UNDO=FILE   of struct head, then of struct piece, one after the other
 *   LAB_CUT=N       the power is lost at the Nth write, 0: not by itself
 *
 * Invariant: the kernel writes to its disk from one thread.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE	4096	/* what is kept or lost as a whole */

/* of Linux: struct io_thread_req, UBD_REQ_BUFFER_SIZE; powercut.py sees if it is wrong */
#define REQUESTS	64

struct request {
	void *block_request;
	int fds[2];
	unsigned long offsets[2];
	unsigned long long offset;
	int sector_size;
	int error;
	int pieces;
};

static struct head {
	uint64_t writes;
	uint64_t flushes;
} head;

static struct piece {
	uint64_t offset;
	uint64_t length;
	char old[PIECE];
} piece;

static struct stat disk;
static uint64_t cut_at;
static off_t undo_end;
static int undo = -1;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("LAB_DISK"), *log = getenv("LAB_UNDO");
	const char *cut = getenv("LAB_CUT");

	if (!path || !log || stat(path, &disk))
		return;
	undo = open(log, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	undo_end = sizeof(head);
	cut_at = cut ? strtoull(cut, NULL, 10) : 0;
}

static int is_disk(int fd)
{
	struct stat st;

	return undo >= 0 && !fstat(fd, &st) && st.st_ino == disk.st_ino &&
	       st.st_dev == disk.st_dev;
}

static void put(const void *from, size_t size, off_t at)
{
	if (syscall(SYS_pwrite64, undo, from, size, at) != (ssize_t)size)
		abort();
}

static void keep_old(int fd, size_t size, off_t at)
{
	while (size) {
		size_t length = PIECE - at % PIECE;

		piece.offset = at;
		piece.length = length < size ? length : size;
		memset(piece.old, 0, sizeof(piece.old));
		if (syscall(SYS_pread64, fd, piece.old, piece.length, at) < 0)
			abort();
		put(&piece, sizeof(piece), undo_end);
		undo_end += sizeof(piece);
		at += piece.length;
		size -= piece.length;
	}
}

ssize_t pwrite64(int fd, const void *from, size_t size, off_t at)
{
	if (is_disk(fd)) {
		if (++head.writes == cut_at)
			kill(0, SIGKILL);
		keep_old(fd, size, at);
		put(&head, sizeof(head), 0);
	}
	return syscall(SYS_pwrite64, fd, from, size, at);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
	__attribute__((alias("pwrite64")));

static void flushed(void)
{
	head.flushes++;
	undo_end = sizeof(head);
	put(&head, sizeof(head), 0);
	if (ftruncate(undo, undo_end))
		abort();
}

/*
 * Linux 7.2 calls fdatasync() for no flush: a request without data has no piece that it
 * would do it for. So it is seen where the disk's thread takes requests from its pipe;
 * what was written before that is safe.
 */
ssize_t read(int fd, void *to, size_t size)
{
	const struct request *const *one = to;
	ssize_t got = syscall(SYS_read, fd, to, size);
	ssize_t i;

	if (size != REQUESTS * sizeof(*one) || got <= 0 || got % sizeof(*one) ||
	    undo < 0 || syscall(SYS_gettid) == getpid())
		return got;
	for (i = 0; i < got / (ssize_t)sizeof(*one); i++)
		if (!one[i]->pieces && is_disk(one[i]->fds[0]))
			flushed();
	return got;
}
