/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of ready_kunit.c's own for functions that other tests of nswap_kunit.ko include, or
 * replace, as well.
 */
#ifndef NSWAP_READY_NAMES_H
#define NSWAP_READY_NAMES_H

#define nswap_answers_free	ready_answers_free
#define nswap_attached_class	ready_attached_class
#define nswap_attached_find	ready_attached_find
#define nswap_attached_free	ready_attached_free
#define nswap_cache_count	ready_cache_count
#define nswap_cache_free	ready_cache_free
#define nswap_cache_give	ready_cache_give
#define nswap_cache_grant	ready_cache_grant
#define nswap_cache_put	ready_cache_put
#define nswap_cache_put_all	ready_cache_put_all
#define nswap_cache_referred	ready_cache_referred
#define nswap_cache_sent	ready_cache_sent
#define nswap_cache_sent_back	ready_cache_sent_back
#define nswap_cache_shared	ready_cache_shared
#define nswap_cache_stored	ready_cache_stored
#define nswap_cache_take	ready_cache_take
#define nswap_cache_take_back	ready_cache_take_back
#define nswap_cache_take_reserved	ready_cache_take_reserved
#define nswap_held_compare	ready_held_compare
#define nswap_held_drop	ready_held_drop
#define nswap_held_drop_device	ready_held_drop_device
#define nswap_held_fenced	ready_held_fenced
#define nswap_held_find	ready_held_find
#define nswap_held_from	ready_held_from
#define nswap_held_grant	ready_held_grant
#define nswap_held_in	ready_held_in
#define nswap_held_insert	ready_held_insert
#define nswap_held_link	ready_held_link
#define nswap_held_list	ready_held_list
#define nswap_held_lookup	ready_held_lookup
#define nswap_held_newer	ready_held_newer
#define nswap_held_next	ready_held_next
#define nswap_held_pop	ready_held_pop
#define nswap_held_same	ready_held_same
#define nswap_held_stored	ready_held_stored
#define nswap_held_take	ready_held_take
#define nswap_held_take_reserved	ready_held_take_reserved
#define nswap_held_ungrant	ready_held_ungrant
#define nswap_pack_drop	ready_pack_drop
#define nswap_pack_leave	ready_pack_leave

#endif
