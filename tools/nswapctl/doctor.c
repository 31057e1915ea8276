// SPDX-License-Identifier: GPL-2.0
/*
 * Findings of the doctor: telling them, keeping them, mending them.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor.h"
#include "json.h"
#include "run.h"

struct doctor_finding {
	enum doctor_level level;
	bool safe;
	const char *check;
	char *text;
	char *fix;		/* or NULL */
};

static const char *const level_names[] = { "note", "advice", "problem" };
static const char *const level_marks[] = { "note   ", "advice ", "PROBLEM" };

static struct doctor_finding *findings;
static size_t nr_findings, nr_before;
static const char *current;

void doctor_begin(const char *check)
{
	current = check;
	nr_before = nr_findings;
}

bool doctor_found(void)
{
	size_t i;

	for (i = nr_before; i < nr_findings; i++)
		if (findings[i].level != DOCTOR_NOTE)
			return true;
	return false;
}

void doctor_find(enum doctor_level level, bool safe, const char *fix, const char *format, ...)
{
	struct doctor_finding *f;
	va_list args;

	findings = realloc(findings, (nr_findings + 1) * sizeof(*f));
	if (!findings)
		ctl_refuse("no memory");
	f = &findings[nr_findings++];
	f->level = level;
	f->safe = fix && safe;
	f->check = current;
	f->fix = fix ? strdup(fix) : NULL;
	va_start(args, format);
	if (vasprintf(&f->text, format, args) < 0 || (fix && !f->fix))
		ctl_refuse("no memory");
	va_end(args);
	if (ctl_json)
		return;
	printf("%s %s: %s\n", level_marks[level], current, f->text);
	if (fix)
		printf("        mend it with: %s\n", fix);
}

void doctor_fine(const char *format, ...)
{
	va_list args;

	if (ctl_json)
		return;
	printf("ok      %s: ", current);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

size_t doctor_count(enum doctor_level level)
{
	size_t i, nr = 0;

	for (i = 0; i < nr_findings; i++)
		nr += findings[i].level >= level;
	return nr;
}

/* severity is the exit code's view of it, and older than level */
void doctor_json(void)
{
	const struct doctor_finding *f;

	json_list(NULL);
	for (f = findings; f < findings + nr_findings; f++) {
		json_object(NULL);
		json_string("severity", f->level == DOCTOR_PROBLEM ? "problem" : "note");
		json_string("level", level_names[f->level]);
		json_string("check", f->check);
		json_string("text", f->text);
		if (f->fix)
			json_string("fix", f->fix);
		json_end();
	}
	json_end();
}

void doctor_forget(void)
{
	while (nr_findings) {
		free(findings[--nr_findings].text);
		free(findings[nr_findings].fix);
	}
}

static bool doctor_asked(const struct doctor_finding *f)
{
	char answer[16];

	printf("\n%s: %s\n  %s\nDo it? [y/n] ", f->check, f->text, f->fix);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

size_t doctor_mend(bool yes)
{
	const char *word[4] = { "sh", "-c" };
	const struct doctor_finding *f;
	size_t nr = 0;

	for (f = findings; f < findings + nr_findings; f++) {
		if (!f->safe || (!yes && !doctor_asked(f)))
			continue;
		word[2] = f->fix;
		if (run_words(word, STDERR_FILENO, STDERR_FILENO))
			ctl_warn("'%s' failed", f->fix);
		else if (ctl_json)
			fprintf(stderr, "did: %s\n", f->fix);
		else
			printf("did: %s\n", f->fix);
		nr++;
	}
	return nr;
}
