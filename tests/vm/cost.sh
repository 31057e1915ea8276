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
content=device
# shellcheck source=tests/vm/cost_nodes.sh
. /cost_nodes.sh

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
	in_b $ip link set lo up
	in_b $ip addr add $there/24 dev b0
	mtu=1500
	[ "$COST_DEVICE" = "$made" ] || mtu=9000
	$ip link set a0 mtu $mtu up
	in_b $ip link set b0 mtu $mtu up
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

# compressed RAM, of this node alone, by LZ4 as the next one
zram()
{
	load lz4
	load zram
	echo lz4 > /sys/block/zram0/comp_algorithm
	echo "${COST_MB}M" > /sys/block/zram0/disksize || end "failed: no zram device"
	device=/dev/zram0
}

# compressed RAM of this node, and what does not become shorter goes to the peer
zswap()
{
	load lz4
	load zsmalloc
	nswap
	(
		cd /sys/module/zswap/parameters &&
			echo lz4 > compressor && echo zsmalloc > zpool && echo 1 > enabled
	) || end "failed: no zswap"
}

sealed()
{
	load curve25519-x86_64
	load aesni-intel
	nswapctl key generate --secret /secret > /dev/null || end "failed: no secret"
	nswap --seal
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

# counted NAME: so far, of /proc/vmstat
counted() { awk -v "name=$1" '$1 == name { print $2 }' /proc/vmstat; }

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
	words=''
	[ "$content" != text ] || words=text
	for work in "$@"; do
		(
			echo 0 > /sys/fs/cgroup/limited/cgroup.procs
			# shellcheck disable=SC2086  # one word or none
			exec cost swap "$work" 24 $words
		) > $port || end "failed: $work"
	done
	case $COST_DEVICE in
	zswap) [ "$(counted zswpout)" = 0 ] ;;
	zswap-text) [ "$(counted pswpout)" = 0 ] ;;
	esac || end "failed: zswap kept pages that do not shrink, or not those that do"
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
	elif [ "$COST_DEVICE" = two ]; then
		for work in $plain; do
			cost "$work" "$device" "$COST_MB" > $port || end "failed: $work"
		done
	elif [ "$made" = tcp ]; then
		in_b cost serve $there &
		cost tcp-72-4168 $there > $port || end "failed: $plain"
	else
		wait_until 30 "$device has its size" has_size
		[ -z "$plain" ] || cost "$content" "$device" "$COST_MB" $plain > $port ||
			end "failed:$plain"
		[ -z "$swap" ] || swap_works $swap
	fi
}

export PATH=/bin
made=${COST_DEVICE%-jumbo}
set_up
case $made in
nvme-tcp) nvme_tcp ;;
pair-home) pair_home ;;
two) pair ;;
parity:*) parity ;;
lz4 | zstd) compressed ;;
zram* | zswap*)
	[ "${COST_DEVICE#*-}" != text ] || content=text
	"${COST_DEVICE%-text}"
	;;
brd | nswap | members | lenders | keys | sealed | cache | early | pair | mirror | nbd | disk | home | flash) "$made" ;;
esac
works
end "done"
