// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor on the machine: clock, key files, signatures, and what its kernel has.
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "conf.h"
#include "ctl.h"
#include "doctor.h"
#include "keyfile.h"
#include "run.h"

#define A_DAY		86400
#define SECURE_BOOT	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define SIGNATURE	"~Module signature appended~\n"

/* 1 if the kernel says that something keeps its clock right, 0 if not, -1 if unknown */
static int clock_kept(void)
{
	struct timex t = { .modes = 0 };
	char line[64];
	int kept = -1;
	FILE *f;

	if (!doctor_is_copy())
		return adjtimex(&t) < 0 ? -1 : !(t.status & STA_UNSYNC);
	f = doctor_command("timedatectl", "");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NTPSynchronized=", 16))
			kept = line[16] == 'y';
	if (f)
		doctor_command_end(f);
	return kept;
}

/*
 * Announcements of a node with keys are numbered, and their numbers begin with the time:
 * peers do not believe one that comes up with a clock behind that of the last time.
 */
static void check_clock(const struct patient *p)
{
	const char *const fix = "timedatectl set-ntp true";
	struct stat st;

	if (!p->keys)
		return;
	if (!doctor_is_copy() && !stat("/proc/self/exe", &st) &&
	    st.st_mtime > time(NULL) + A_DAY)
		doctor_find(DOCTOR_PROBLEM, false, fix, "the clock is behind by days, nswapctl is younger: peers do not believe a node with keys that comes up with a clock behind that of its last time");
	else if (!clock_kept())
		doctor_find(DOCTOR_ADVICE, true, fix, "nothing keeps the clock right: peers do not believe a node with keys that comes up with a clock behind that of its last time");
	else
		doctor_fine("it is kept right");
}

static void key_file_look(const char *path)
{
	char full[4096], *quoted, *fix;
	const char *wrong;
	struct stat st;

	if (stat(doctor_path(full, sizeof(full), path), &st))
		return;
	wrong = keyfile_wrong(&st);
	if (!wrong)
		return;
	quoted = run_quoted(path);
	if (asprintf(&fix, "chown root: %s && chmod 600 %s", quoted, quoted) < 0)
		ctl_refuse("no memory");
	doctor_find(DOCTOR_PROBLEM, S_ISREG(st.st_mode), fix, "%s: %s", path, wrong);
	free(quoted);
	free(fix);
}

/* the usual files, and those that the configuration names */
static void check_keys(const struct patient *p)
{
	static const char *const usual[] = {
		"/etc/nswap/key", "/etc/nswap/members", "/etc/nswap/secret",
	};
	static const char *const names[] = { "key", "members", "secret" };
	const char *path;
	char full[4096];
	struct conf c;
	size_t i, k;

	for (i = 0; i < 3; i++)
		key_file_look(usual[i]);
	if (!access(doctor_path(full, sizeof(full), CONF_FILE), R_OK)) {
		conf_read(&c, full);
		for (i = 0; i < c.nr; i++)
			for (k = 0; k < 3; k++) {
				path = c.section[i].kind != CONF_NODE ? NULL :
					conf_value(&c.section[i], names[k]);
				if (path && strcmp(path, usual[k]))
					key_file_look(path);
			}
	}
	if (p->keys && !doctor_found())
		doctor_fine("no other user can read them");
}

static bool file_ends_with(const char *path, const char *end)
{
	char tail[64] = "";
	size_t len = strlen(end);
	FILE *f = fopen(path, "r");
	bool same = f && !fseek(f, -(long)len, SEEK_END) && fread(tail, len, 1, f) &&
		    !memcmp(tail, end, len);

	if (f)
		fclose(f);
	return same;
}

/* the file of the module for the kernel that runs; "" if there is none to be looked into */
static void module_file(char *path, size_t len)
{
	static const char *const places[] = { "updates", "updates/dkms", "extra" };
	char release[128], inner[256], full[4096];
	size_t i;

	*path = '\0';
	if (!doctor_line("/proc/sys/kernel/osrelease", release, sizeof(release)))
		return;
	for (i = 0; i < 3; i++) {
		snprintf(inner, sizeof(inner), "/lib/modules/%s/%s/nswap.ko", release,
			 places[i]);
		if (!access(doctor_path(full, sizeof(full), inner), R_OK))
			snprintf(path, len, "%s", full);
	}
}

/* where only signed modules load: is ours? */
static void check_signature(const struct patient *p)
{
	bool locked, secure = false;
	char line[64] = "", path[4096];
	FILE *f;

	f = doctor_open(SECURE_BOOT);
	if (f)
		secure = fread(line, 1, 5, f) == 5 && line[4] == 1;
	if (f)
		fclose(f);
	memset(line, 0, sizeof(line));
	locked = doctor_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
		 !strstr(line, "[none]");
	module_file(path, sizeof(path));
	if ((!secure && !locked) || p->loaded || !*path)
		return;
	if (file_ends_with(path, SIGNATURE))
		doctor_fine("the module is signed");
	else
		doctor_find(DOCTOR_PROBLEM, false, "mokutil --import /var/lib/dkms/mok.pub (then reboot, confirm the key, and build the module again)",
			    "%s, so that only signed modules load, and nswap.ko is not signed",
			    secure ? "secure boot is on" : "the kernel is locked down");
}

#define OTHER_KERNEL	"apt install linux-image-amd64 (Debian's own has it; then boot it)"

/* what is not there without an option of the kernel, and the file that shows that it is */
static const struct kernel_option {
	const char *name;
	const char *sign;
	const char *fix;
	const char *text;
} kernel_options[] = {
	{ "CONFIG_SWAP", "/proc/swaps", OTHER_KERNEL,
	  "it cannot swap: nswap needs another kernel" },
	{ "CONFIG_MEMCG", NULL, OTHER_KERNEL,
	  "programs cannot be given less memory than others, and what describes a device is charged to no group" },
	{ "CONFIG_PSI", "/proc/pressure/memory",
	  "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX psi=1\"' >> /etc/default/grub && update-grub (then reboot)",
	  "'nswapctl psi' has nothing to read, and the size policy 'pressure' goes by other signs" },
};

/* 1 for built in or a module, 0 for not set, -1 if the configuration cannot be read */
static int option_set(const char *name)
{
	char release[128], path[256], line[256];
	size_t len = strlen(name);
	int set = -1;
	FILE *f;

	if (!doctor_line("/proc/sys/kernel/osrelease", release, sizeof(release)))
		return -1;
	snprintf(path, sizeof(path), "/boot/config-%s", release);
	f = doctor_open(path);
	if (f)
		set = 0;
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == '=')
			set = line[len + 1] == 'y' || line[len + 1] == 'm';
	if (f)
		fclose(f);
	return set;
}

/* a copy may lack the file */
static bool option_missing(const struct kernel_option *o)
{
	int set = option_set(o->name);
	char full[4096];

	if (!o->sign)
		return !set;
	return access(doctor_path(full, sizeof(full), o->sign), F_OK) &&
	       (set != 1 || !doctor_is_copy());
}

static void check_options(const struct patient *p)
{
	const struct kernel_option *o;

	(void)p;
	for (o = kernel_options; o < kernel_options + 3; o++) {
		if (!option_missing(o))
			continue;
		doctor_find(strcmp(o->name, "CONFIG_SWAP") ? DOCTOR_NOTE : DOCTOR_PROBLEM, false,
			    option_set(o->name) ? o->fix : OTHER_KERNEL,
			    "this kernel does without %s: %s", o->name, o->text);
	}
}

const struct doctor_check doctor_host[] = {
	{ "clock", DOCTOR_ALWAYS, check_clock },
	{ "key files", DOCTOR_ALWAYS, check_keys },
	{ "signature", DOCTOR_ALWAYS, check_signature },
	{ "kernel options", DOCTOR_ALWAYS, check_options },
	{ }
};
