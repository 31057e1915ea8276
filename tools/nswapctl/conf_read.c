// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the configuration file into sections and entries with their lines.
 *
 * Not libinih's: its handler is not told the line in Debian's build, and a line of more
 * than 200 bytes, which a list of peers is, is taken there for two.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "ctl.h"

#define BYTE_ORDER_MARK	"\xef\xbb\xbf"
#define SECTIONS	"[node], [knobs], [device NAME]"

static const char *const kind_names[CONF_KINDS] = { "node", "knobs", "device" };

static void *conf_grow(void *list, size_t nr, size_t size)
{
	list = realloc(list, (nr + 1) * size);
	if (!list)
		ctl_refuse("no memory");
	memset((char *)list + nr * size, 0, size);
	return list;
}

void conf_complain(struct conf *c, unsigned int line, const char *allowed,
		   const char *format, ...)
{
	struct conf_wrong *w;
	va_list args;

	c->wrong = conf_grow(c->wrong, c->nr_wrong, sizeof(*w));
	w = &c->wrong[c->nr_wrong++];
	w->line = line;
	w->allowed = allowed;
	va_start(args, format);
	if (vasprintf(&w->what, format, args) < 0)
		ctl_refuse("no memory");
	va_end(args);
}

char *conf_trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return text;
}

static void conf_begin_section(struct conf *c, unsigned int line, char *head)
{
	char *end = strchr(head, ']'), *word, *name, *save;
	struct conf_section *s;
	int kind;

	c->section = conf_grow(c->section, c->nr, sizeof(*s));
	s = &c->section[c->nr++];
	s->line = line;
	s->kind = CONF_KINDS;
	if (!end || end[1]) {
		conf_complain(c, line, SECTIONS, "this head of a section does not end in ']'");
		return;
	}
	*end = '\0';
	word = strtok_r(head + 1, " \t", &save);
	name = word ? strtok_r(NULL, " \t", &save) : NULL;
	for (kind = 0; word && kind < CONF_KINDS; kind++)
		if (!strcmp(word, kind_names[kind]))
			s->kind = kind;
	if (s->kind == CONF_KINDS)
		conf_complain(c, line, SECTIONS, "there is no section '%s'", word ? word : "");
	else if (s->kind == CONF_DEVICE && !name)
		conf_complain(c, line, SECTIONS, "the device has no name");
	else if ((s->kind != CONF_DEVICE && name) || (name && strtok_r(NULL, " \t", &save)))
		conf_complain(c, line, SECTIONS, "there is a word too many behind '%s'", word);
	s->name = strdup(name ? name : "");
}

static void conf_take_line(struct conf *c, unsigned int line, char *text)
{
	struct conf_section *s = c->nr ? &c->section[c->nr - 1] : NULL;
	char *equals;

	if (line == 1 && !strncmp(text, BYTE_ORDER_MARK, 3)) {
		conf_complain(c, line, "text without it: sed -i '1s/^\\xef\\xbb\\xbf//' FILE",
			      "the file begins with a byte order mark");
		text += 3;
	}
	text = conf_trim(text);
	if (!*text || *text == '#' || *text == ';')
		return;
	if (*text == '[') {
		conf_begin_section(c, line, text);
		return;
	}
	equals = strchr(text, '=');
	if (!equals || equals == text) {
		conf_complain(c, line, "KEY = VALUE, [SECTION], # comment",
			      "this line is neither a key with a value nor a section");
		return;
	}
	if (!s) {
		conf_complain(c, line, SECTIONS, "this key is in front of all sections");
		return;
	}
	*equals = '\0';
	s->entry = conf_grow(s->entry, s->nr, sizeof(*s->entry));
	s->entry[s->nr].line = line;
	s->entry[s->nr].key = strdup(conf_trim(text));
	s->entry[s->nr++].value = strdup(conf_trim(equals + 1));
}

void conf_read(struct conf *c, const char *file)
{
	FILE *f = fopen(file, "r");
	unsigned int line = 0;
	char *text = NULL;
	size_t room = 0;
	ssize_t len;

	memset(c, 0, sizeof(*c));
	c->file = file;
	if (!f)
		ctl_refuse("%s: %s; nswap.conf(5) says what is to be in there", file,
			   strerror(errno));
	while ((len = getline(&text, &room, f)) >= 0) {
		line++;
		if (memchr(text, 0, len))
			conf_complain(c, line, "text", "there is a zero byte in this line");
		else
			conf_take_line(c, line, text);
	}
	if (ferror(f))
		ctl_refuse("%s: it cannot be read", file);
	free(text);
	fclose(f);
}

const struct conf_entry *conf_find(const struct conf_section *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->entry[i].key, key))
			return &s->entry[i];
	return NULL;
}

const char *conf_value(const struct conf_section *s, const char *key)
{
	const struct conf_entry *e = conf_find(s, key);

	return e ? e->value : NULL;
}

bool conf_on(const struct conf_section *s, const char *key, bool without)
{
	const char *value = conf_value(s, key);

	return value ? !strcmp(value, "yes") : without;
}
