// SPDX-License-Identifier: GPL-2.0
/// Nothing on the page-out path may enter reclaim: reclaim is what called it.
///
/// Bug class: an allocation with GFP_KERNEL (or with the default flags, which
/// are the same) in a function that runs while a page is being written out
/// waits for reclaim, which waits for this page. cocci.sh hands in the files of
/// the path only; what makes ready and tears down lies off it and is known by
/// its name (PREPARES below).
virtual report

@initialize:python@
@@
import re
PREPARES = re.compile(r"(^|_)(init|exit|alloc|free|add|del|new|create|start|"
                      r"stop|up|open|connect|listen|accept|make|destroy)(_|$)")

def say(where, what):
    if not PREPARES.search(where.current_element):
        print("%s:%s: %s() %s" % (where.file, where.line,
                                  where.current_element, what))

@flags@
position p;
@@
(
 GFP_KERNEL@p
|
 GFP_KERNEL_ACCOUNT@p
|
 GFP_USER@p
|
 GFP_NOFS@p
)

@script:python depends on report@
p << flags.p;
@@
say(p[0], "allocates with flags that enter reclaim")

@defaults@
expression e, n;
position p;
@@
(
 kmalloc_obj@p(e)
|
 kzalloc_obj@p(e)
|
 kmalloc_objs@p(e, n)
|
 kzalloc_objs@p(e, n)
|
 kvmalloc_objs@p(e, n)
|
 kvzalloc_objs@p(e, n)
)

@script:python depends on report@
p << defaults.p;
@@
say(p[0], "allocates with the default flags, which enter reclaim")

@sleeping@
position p;
@@
(
 vmalloc@p(...)
|
 vzalloc@p(...)
|
 alloc_percpu@p(...)
|
 flush_scheduled_work@p(...)
|
 schedule_work@p(...)
|
 synchronize_rcu@p(...)
|
 kthread_run@p(...)
)

@script:python depends on report@
p << sleeping.p;
@@
say(p[0], "calls what may wait for memory or for others")
