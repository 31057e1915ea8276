#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Process 1 of a guest that counts instructions: sets one device up between two
# network namespaces, this one and "b", and measures works on it.
#
# COST_DEVICE, COST_WORKS (separated by commas) and COST_MB come from the kernel's
# command line. What is measured goes to the second serial port, one JSON line a
# repetition, at the end "done" or what went wrong. Nothing comes from the host,
# so a run depends on nothing but the guest.
#
# In busybox's shell a program that is an applet too is called by its full path,
# and iproute2 looks at its own name.
ip=/iproute2/ip
here=10.77.0.1 there=10.77.0.2
port=/dev/ttyS1

end()
{
	echo "$*" > $port
	dmesg | tail -n 20
	poweroff -f
}

in_b() { $ip netns exec b "$@"; }

# wait_until SECONDS WHAT COMMAND…
wait_until()
{
	left=$(($1 * 20)) what=$2
	shift 2
	while ! "$@" > /dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || end "failed: $what"
		usleep 50000
	done
}

# load NAME [PARAMETER…]: a module, after those it depends on
load()
{
	list=/modules-$1
	shift
	while read -r module; do
		name=$(echo "${module%.ko}" | tr - _)
		[ -d "/sys/module/$name" ] && continue
		insmod "/cost/$module" "$@" || end "failed: loading $name"
	done < "$list"
}

set_up()
{
	mount -t proc none /proc
	mount -t sysfs none /sys
	mount -t devtmpfs none /dev
	mount -t cgroup2 none /sys/fs/cgroup
	echo +memory > /sys/fs/cgroup/cgroup.subtree_control
	mkdir -p /var/run /sys/fs/cgroup/limited
	echo 12M > /sys/fs/cgroup/limited/memory.max
	stty -F $port raw -echo
	$ip link set lo up
	load veth
	$ip netns add b
	$ip link add a0 type veth peer name b0 netns b
	$ip addr add $here/24 dev a0
	$ip link set a0 up
	in_b $ip link set lo up
	in_b $ip addr add $there/24 dev b0
	in_b $ip link set b0 up
	wait_until 5 "the other namespace answers" ping -c 1 -W 1 $there
}

brd()
{
	load brd rd_nr=1 "rd_size=$((COST_MB << 10))"
	device=/dev/ram0
}

# disks COUNT: SCSI disks in memory. Their queues are those of a real disk's driver,
# which brd has none of; a request ends while it is submitted.
disks()
{
	load sd_mod
	load scsi_debug "add_host=$1" per_host_store=1 "dev_size_mb=$COST_MB" delay=0
	for disk in a b; do
		[ "$1 $disk" = "1 b" ] && break
		wait_until 10 "the disk sd$disk" [ -b "/dev/sd$disk" ]
		echo none > "/sys/block/sd$disk/queue/scheduler"
	done
}

disk()
{
	disks 1
	device=/dev/sda
}

# a device of a node without peers
alone()
{
	load nswap
	nswapctl up --open --lend 0 --peers $there --no-broadcast ||
		end "failed: node a is not up"
	nswapctl device add "$@" || end "failed: no nswap device"
	device=/dev/nswap0
}

home()
{
	disks 1
	alone --home /dev/sda
}

flash()
{
	disks 2
	alone --home /dev/sda --flash /dev/sdb
}

peer_lends()
{
	nswapctl --json peers | tr -d ' \n' | grep -q "\"free_pages\":[1-9]"
}

peer_is_up()
{
	nswapctl --json peers | tr -d ' \n' | grep -q '"state":"up"'
}

# nswap OPTION...: a device of a node with a peer; both have a key if there is /secret
nswap()
{
	load nswap
	with=--open
	[ ! -e /secret ] || with="--secret /secret"
	# shellcheck disable=SC2086  # one word or two
	in_b nswapctl up --lend $((COST_MB + 16))M --peers $here --no-broadcast $with ||
		end "failed: node b is not up"
	# shellcheck disable=SC2086
	nswapctl up --lend 0 --peers $there --no-broadcast $with ||
		end "failed: node a is not up"
	wait_until 30 "the peer offers its room" peer_lends
	nswapctl device add --size "${COST_MB}M" "$@" || end "failed: no nswap device"
	wait_until 30 "the peer is connected" peer_is_up
	device=/dev/nswap0
}

# one_more NAME ADDRESS: another node, in a namespace of that name. ip(8) takes "ad" for
# "address".
one_more()
{
	$ip netns add "$1"
	$ip link add "to-$1" type veth peer name "$1"0 netns "$1"
	$ip link set "to-$1" up
	$ip route add "$2/32" dev "to-$1" src $here
	$ip netns exec "$1" $ip link set lo up
	$ip netns exec "$1" $ip addr add "$2/32" dev "$1"0
	$ip netns exec "$1" $ip link set "$1"0 up
	$ip netns exec "$1" $ip route add $here/32 dev "$1"0
	wait_until 5 "the node $1 answers" ping -c 1 -W 1 "$2"
}

all_lend()
{
	[ "$(nswapctl --json peers | grep -c "\"free_pages\": *[1-9]")" = "$peers" ]
}

all_are_up()
{
	[ "$(nswapctl --json peers | grep -c '"state": *"up"')" = "$peers" ]
}

# several PEERS OPTION…: a device with so many peers, which have room for it twice
several()
{
	peers=$1 lend=$((2 * COST_MB / $1 + 16))M listed=$there
	shift
	load nswap
	in_b nswapctl up --open --lend $lend --peers $here --no-broadcast ||
		end "failed: node b is not up"
	number=1
	for space in c d e f g; do
		number=$((number + 1))
		[ $number -le "$peers" ] || break
		one_more $space 10.78.0.$number
		$ip netns exec $space nswapctl up --open --lend $lend --peers $here \
			--no-broadcast || end "failed: node $space is not up"
		listed=$listed,10.78.0.$number
	done
	nswapctl up --open --lend 0 --addr $here --peers "$listed" --no-broadcast ||
		end "failed: node a is not up"
	wait_until 30 "all peers offer their room" all_lend
	nswapctl device add "$@" || end "failed: no nswap device"
	wait_until 30 "all peers are connected" all_are_up
	device=/dev/nswap0
}

# member NAME ADDRESS LENDER SIZE OPTION…: a node in a namespace of its own, next to its
# lender's, and its device
member()
{
	name=$1 own=$2 lender=$3 size=$4
	shift 4
	address=$there
	[ "$lender" = b ] || address=10.79.0.100
	$ip netns add "$name"
	$ip link add "to-$name" netns "$lender" type veth peer name "${name}0" netns "$name"
	$ip netns exec "$lender" $ip link set "to-$name" up
	$ip netns exec "$lender" $ip route add "$own/32" dev "to-$name" src $address
	$ip netns exec "$name" $ip link set lo up
	$ip netns exec "$name" $ip addr add "$own/32" dev "${name}0"
	$ip netns exec "$name" $ip link set "${name}0" up
	$ip netns exec "$name" $ip route add "$address/32" dev "${name}0"
	wait_until 5 "the lender of $name answers" \
		$ip netns exec "$name" ping -c 1 -W 1 $address
	$ip netns exec "$name" nswapctl up --open --lend 0 --peers $address \
		--no-broadcast "$@" || end "failed: node $name is not up"
	wait_until 30 "the lender of $name has room" \
		$ip netns exec "$name" nswapctl device add --size "$size"
}

# Each member may be promised 2048 pages that it does not use, so b lends more than all need.
# Seven quiet members of the lender b, nswap0 to nswap6; one that may flood it, nswap7, and
# over as many connections as there may be, nswap8; one that may flood the lender c, nswap9.
members()
{
	load nswap
	listed=10.79.0.1
	for number in 2 3 4 5 6 7 8 9 10; do
		listed=$listed,10.79.0.$number
	done
	in_b nswapctl up --open --lend 144M --peers $listed --no-broadcast ||
		end "failed: node b is not up"
	$ip netns add c
	$ip netns exec c $ip link set lo up
	$ip netns exec c $ip addr add 10.79.0.100/32 dev lo
	$ip netns exec c nswapctl up --open --lend 16M --addr 10.79.0.100 --peers $listed \
		--no-broadcast || end "failed: node c is not up"
	for number in 1 2 3 4 5 6 7; do
		member q$number 10.79.0.$number b 2M
	done
	member g 10.79.0.8 b 8M
	member g8 10.79.0.9 b 8M --conns 8
	member e 10.79.0.10 c 8M
}

# turns WORK…: what a page of the quiet ones takes
turns()
{
	quiet=''
	for number in 0 1 2 3 4 5 6; do
		quiet="$quiet /dev/nswap$number"
	done
	for work in "$@"; do
		case $work in
		*-none) flood=- ;;
		*-same) flood=/dev/nswap7 ;;
		*-same-8) flood=/dev/nswap8 ;;
		*) flood=/dev/nswap9 ;;
		esac
		case $work in
		reads-beside-stores-*) mine=read others=write ;;
		reads-*) mine=read others=read ;;
		*) mine=write others=write ;;
		esac
		# shellcheck disable=SC2086  # a list of words
		/bin/turns "$work" $mine $others $flood $quiet > $port || end "failed: $work"
	done
}

# two lenders that see each other too, and have room for all pages each
lenders()
{
	peers=2 other=10.78.0.2 lend=$((COST_MB + 16))M
	one_more c $other
	$ip link add b1 netns b type veth peer name c1 netns c
	in_b $ip link set b1 up
	in_b $ip route add $other/32 dev b1 src $there
	$ip netns exec c $ip link set c1 up
	$ip netns exec c $ip route add $there/32 dev c1 src $other
	load nswap
	in_b nswapctl up --open --lend $lend --peers $here,$other --no-broadcast ||
		end "failed: node b is not up"
	$ip netns exec c nswapctl up --open --lend $lend --addr $other \
		--peers $here,$there --no-broadcast || end "failed: node c is not up"
	nswapctl up --open --lend 0 --addr $here --peers $there,$other --no-broadcast ||
		end "failed: node a is not up"
	wait_until 30 "both lenders offer their room" all_lend
	nswapctl device add --size "${COST_MB}M" || end "failed: no nswap device"
	wait_until 30 "both lenders are connected" all_are_up
	device=/dev/nswap0
}

# nodes with keys, and a device that is not sealed
keys()
{
	load curve25519-x86_64
	nswapctl key generate --secret /secret > /dev/null || end "failed: no secret"
	nswap --no-seal
}

# with LZ4 or zstd, and pages that can be compressed
compressed()
{
	content=text
	nswap --compress "$COST_DEVICE"
}

# with a write cache, of a sixth of the device
cache()
{
	nswap --cache $((COST_MB / 6))M
}

# and page-outs that end there
early()
{
	content=flushed
	nswap --cache $((COST_MB / 6))M --early-ack
}

sealed()
{
	load curve25519-x86_64
	load aesni-intel
	nswapctl key generate --secret /secret > /dev/null || end "failed: no secret"
	nswap --seal
}

pair()
{
	several 2 --size "${COST_MB}M"
}

mirror()
{
	several 2 --size "${COST_MB}M" --protect mirror
}

pair_home()
{
	disks 1
	several 2 --home /dev/sda --protect home
}

# one peer for each page of a group
parity()
{
	group=${COST_DEVICE#parity:}
	[ "${group#*+}" = 1 ] || load raid6_pq
	several $((${group%+*} + ${group#*+})) --size "${COST_MB}M" \
		--protect "$COST_DEVICE"
}

# In the namespace b, where configfs has to be mounted again: the target listens
# in the namespace of whoever writes the last link.
nvme_target()
{
	in_b sh -e -c "
		mount -t configfs none /config
		cd /config/nvmet
		mkdir subsystems/cost subsystems/cost/namespaces/1
		echo 1 > subsystems/cost/attr_allow_any_host
		echo /dev/ram0 > subsystems/cost/namespaces/1/device_path
		echo 1 > subsystems/cost/namespaces/1/enable
		mkdir ports/1
		echo tcp > ports/1/addr_trtype
		echo ipv4 > ports/1/addr_adrfam
		echo $there > ports/1/addr_traddr
		echo 4420 > ports/1/addr_trsvcid
		ln -s /config/nvmet/subsystems/cost ports/1/subsystems/cost"
}

nvme_tcp()
{
	brd
	load nvmet-tcp
	load nvme-tcp
	mkdir /config
	nvme_target || end "failed: the NVMe/TCP target"
	printf '%s' "transport=tcp,traddr=$there,trsvcid=4420,nqn=cost,hostnqn=cost-host,hostid=7b1d3c6e-52a1-4f0e-9a55-6c1c58f0a901" \
		> /dev/nvme-fabrics || end "failed: connecting NVMe/TCP"
	device=/dev/nvme0n1
}

nbd()
{
	brd
	load nbd
	mkdir -p /etc
	echo "root:x:0:0::/:/bin/sh" > /etc/passwd
	echo "root:x:0:" > /etc/group
	cat > /etc/nbd.conf <<-END
		[generic]
		user = root
		group = root
		listenaddr = $there
		port = 10809
		[cost]
		exportname = /dev/ram0
		flush = false
	END
	in_b /bin/nbd-server -d -C /etc/nbd.conf -p /nbd.pid &
	wait_until 10 "nbd-server listens" \
		in_b grep -q ':2A39 [^ ]* 0A' /proc/net/tcp
	/bin/nbd-client -L -N cost $there 10809 /dev/nbd0 -b 4096 ||
		end "failed: connecting nbd"
	device=/dev/nbd0
}

idle_ns() { awk '/idle_sleeptime/ { print $3; exit }' /proc/timer_list; }

# Whether nothing has anything to do: a kernel that has just booted tests its
# ciphers for a while, beside whatever is measured.
is_idle()
{
	before=$(idle_ns)
	usleep 100000
	[ $(($(idle_ns) - before)) -gt 80000000 ]
}

has_size()
{
	[ -b "$device" ] && [ "$(cat "/sys/block/${device##*/}/size")" = $((COST_MB << 11)) ]
}

# With a longer queue of larger requests all of the group's pages can be on their way
# out at once, and the group is out of memory. On 6.12 an NVMe device is a front of
# the one that has the queue, nvme0c0n1.
swap_works()
{
	for queue in "/sys/block/${device##*/}/queue" /sys/block/nvme*c*n*/queue; do
		echo 128 2> /dev/null > "$queue/max_sectors_kb"
		echo 16 2> /dev/null > "$queue/nr_requests"
	done
	mkswap "$device" > /dev/null
	swapon "$device" || end "failed: swapon"
	for work in "$@"; do
		(
			echo 0 > /sys/fs/cgroup/limited/cgroup.procs
			exec cost swap "$work" 24
		) > $port || end "failed: $work"
	done
}

works()
{
	swap='' plain=''
	for work in $(echo "$COST_WORKS" | tr , ' '); do
		case $work in
		swap-*) swap="$swap $work" ;;
		*) plain="$plain $work" ;;
		esac
	done
	[ -z "${COST_PROFILE:-}" ] || cat /proc/kallsyms > /dev/ttyS2
	wait_until 60 "the guest is idle" is_idle
	# shellcheck disable=SC2086  # lists of words
	if [ "$COST_DEVICE" = members ]; then
		turns $plain
	elif [ "$COST_DEVICE" = tcp ]; then
		in_b cost serve $there &
		cost tcp-72-4168 $there > $port || end "failed: $plain"
	else
		wait_until 30 "$device has its size" has_size
		[ -z "$plain" ] || cost "${content:-device}" "$device" "$COST_MB" $plain > $port ||
			end "failed:$plain"
		[ -z "$swap" ] || swap_works $swap
	fi
}

export PATH=/bin
set_up
case $COST_DEVICE in
nvme-tcp) nvme_tcp ;;
pair-home) pair_home ;;
parity:*) parity ;;
lz4 | zstd) compressed ;;
brd | nswap | members | lenders | keys | sealed | cache | early | pair | mirror | nbd | disk | home | flash) "$COST_DEVICE" ;;
esac
works
end "done"
