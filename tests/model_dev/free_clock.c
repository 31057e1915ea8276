// SPDX-License-Identifier: GPL-2.0
/*
 * A clock that is free to read, for the lab's kernel under virtual time.
 *
 * There, whenever a task reads the clock, 256 ns pass, so that a loop which waits for time
 * to pass ends. That is all that a processor is charged for, and it is too much where a page
 * takes 1.4 us on the line: tasks of both ends read the clock nine times for each. With
 * interrupts off a reading is free; this clock turns them off.
 *
 * Invariants: it is the kernel's own clock, with its steps of 256 ns; one reading in PRICED
 * takes them as before, so such a loop still ends. It is in use as long as it is chosen, and
 * goes when another one is.
 */
#include <linux/clocksource.h>
#include <linux/irqflags.h>
#include <linux/module.h>

#define STEP_NS		256
#define PRICED		256

static unsigned long read;
module_param(read, ulong, 0444);
MODULE_PARM_DESC(read, "address of the kernel's timer_read(), from /proc/kallsyms");

static u64 free_read(struct clocksource *cs)
{
	u64 (*timer_read)(struct clocksource *cs) = (void *)read;
	static unsigned int readings;
	unsigned long flags;
	u64 steps;

	if (!(++readings % PRICED))
		return timer_read(cs);
	local_irq_save(flags);
	steps = timer_read(cs);
	local_irq_restore(flags);
	return steps;
}

static struct clocksource free_clock = {
	.name	= "free",
	.rating	= 400,
	.read	= free_read,
	.mask	= CLOCKSOURCE_MASK(64),
	.flags	= CLOCK_SOURCE_IS_CONTINUOUS,
	.owner	= THIS_MODULE,
};

static int __init free_clock_init(void)
{
	if (!read)
		return -EINVAL;
	return clocksource_register_hz(&free_clock, NSEC_PER_SEC / STEP_NS);
}

static void __exit free_clock_exit(void)
{
	clocksource_unregister(&free_clock);
}

module_init(free_clock_init);
module_exit(free_clock_exit);
MODULE_DESCRIPTION("a clock that is free to read, under virtual time");
MODULE_LICENSE("GPL");
