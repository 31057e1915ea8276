/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which device of the node a section of the configuration file means.
 */
#ifndef NSWAPCTL_CONF_MATCH_H
#define NSWAPCTL_CONF_MATCH_H

#include "conf.h"
#include "view.h"

/*
 * The device of each section, in a list as long as that of sections: NULL if it is still
 * to be added. @keys: has the node keys?
 */
const struct view_device **conf_match(const struct conf *c, const struct view_device *d,
				      size_t nr, bool keys);

/*
 * Complaints about what of its device cannot be changed; of one that is still to be
 * swapped to, also about what the file does not speak of.
 */
void conf_match_fixed(struct conf *c, const struct conf_section *s,
		      const struct view_device *d, bool keys);

/*
 * May this device, which is not swapped to, be made swap? Else a complaint. @signature:
 * it is swap already
 */
bool conf_match_sure(struct conf *c, const struct conf_section *s,
		     const struct view_device *d, bool signature);

#endif
