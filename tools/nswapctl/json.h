/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON on standard output. @key is NULL inside a list and at the top.
 */
#ifndef NSWAPCTL_JSON_H
#define NSWAPCTL_JSON_H

#include <stdbool.h>
#include <stdint.h>

void json_object(const char *key);
void json_list(const char *key);
void json_end(void);
void json_string(const char *key, const char *value);
void json_real(const char *key, double value);
void json_lines(void);
void json_number(const char *key, uint64_t value);
void json_id(const char *key, uint64_t value);
void json_bool(const char *key, bool value);

#endif
