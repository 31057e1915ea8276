// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over TCP: whether anything has come, waiting for that, and calls when it has,
 * or when a link may be sent to again.
 *
 * Invariant: the socket's own functions are called first, and are back before the link is
 * freed: after nswap_tcp_quiet() nothing is called any more.
 */
#include <linux/net.h>
#include <linux/tcp.h>
#include <linux/wait.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "tcp_link.h"

/*
 * The socket's own function @own, which a link has put aside, and then the link's call.
 * Without a link, which has gone since, the socket has its own again.
 */
static void call_both(struct sock *sk, struct nswap_link *l, void (*own)(struct sock *sk))
{
	own(sk);
	if (l)
		l->changed(l->arg);
}

static void write_space(struct sock *sk)
{
	struct nswap_link *l;

	read_lock_bh(&sk->sk_callback_lock);
	l = sk->sk_user_data;
	call_both(sk, l, l ? l->saved_write_space : sk->sk_write_space);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void data_ready(struct sock *sk)
{
	struct nswap_link *l;

	read_lock_bh(&sk->sk_callback_lock);
	l = sk->sk_user_data;
	call_both(sk, l, l ? l->saved_data_ready : sk->sk_data_ready);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void state_change(struct sock *sk)
{
	struct nswap_link *l;

	read_lock_bh(&sk->sk_callback_lock);
	l = sk->sk_user_data;
	call_both(sk, l, l ? l->saved_state_change : sk->sk_state_change);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void call_on(struct nswap_link *l, void (*fn)(void *), void *arg, bool reads)
{
	struct sock *sk = l->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	l->changed = fn;
	l->arg = arg;
	l->reads = reads;
	l->saved_write_space = sk->sk_write_space;
	sk->sk_user_data = l;
	sk->sk_write_space = write_space;
	if (reads) {
		l->saved_data_ready = sk->sk_data_ready;
		l->saved_state_change = sk->sk_state_change;
		sk->sk_data_ready = data_ready;
		sk->sk_state_change = state_change;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	/* what came before is seen by the caller, what comes now calls */
	spin_lock_bh(&sk->sk_lock.slock);
	spin_unlock_bh(&sk->sk_lock.slock);
}

/* no more calls; process */
void nswap_tcp_quiet(struct nswap_link *l)
{
	struct sock *sk = l->sock->sk;

	if (!l->changed)
		return;
	write_lock_bh(&sk->sk_callback_lock);
	l->changed = NULL;
	sk->sk_write_space = l->saved_write_space;
	if (l->reads) {
		sk->sk_data_ready = l->saved_data_ready;
		sk->sk_state_change = l->saved_state_change;
	}
	sk->sk_user_data = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* the transport's ->on_writable() */
void nswap_tcp_on_writable(struct nswap_link *l, void (*fn)(void *), void *arg)
{
	call_on(l, fn, arg, false);
}

/* the transport's ->on_change() */
void nswap_tcp_on_change(struct nswap_link *l, void (*fn)(void *), void *arg)
{
	if (fn)
		call_on(l, fn, arg, true);
	else
		nswap_tcp_quiet(l);
}

/* the transport's ->ready() */
bool nswap_tcp_ready(struct nswap_link *l, size_t len)
{
	const struct tcp_sock *tp = tcp_sk(l->sock->sk);

	return l->have + (READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq)) >= len;
}

/* the transport's ->pending() */
bool nswap_tcp_pending(struct nswap_link *l, size_t len)
{
	const struct sock *sk = l->sock->sk;

	return nswap_tcp_ready(l, len) || READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN ||
	       READ_ONCE(sk->sk_state) != TCP_ESTABLISHED;
}

/* the transport's ->wait() */
bool nswap_tcp_wait(struct nswap_link *l, size_t len, const bool *stop)
{
	/* as an interruptible sleeper: sockets wake no others */
	wait_event_interruptible(*sk_sleep(l->sock->sk),
				 nswap_tcp_pending(l, len) || READ_ONCE(*stop));
	return nswap_tcp_pending(l, len);
}
