# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Read by cost.sh: devices of nodes that are more than two, and what is measured of members.

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
