# SPDX-License-Identifier: GPL-2.0
# Wireless nodes with AODV in a strip, as in table 5.3 of the Anemone thesis: what ns-2 is
# to simulate, and the trace of what the seven connections sent and got.
#
# usage: ns wireless.tcl NODES SECONDS SEED COMPUTE_MS TRACE
#
# Every STEP of simulated seconds it sleeps for COMPUTE_MS of real ones.

lassign $argv nodes seconds seed compute_ms trace
set connections 7
set step 0.1

set ns [new Simulator]
set out [open $trace w]
$ns trace-all $out
set area [new Topography]
$area load_flatgrid 1500 300
create-god $nodes
$ns node-config -adhocRouting AODV -llType LL -macType Mac/802_11 \
	-ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
	-propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
	-channel [new Channel/WirelessChannel] -topoInstance $area \
	-agentTrace ON -routerTrace OFF -macTrace OFF -movementTrace OFF

set place [new RNG]
$place seed $seed
for {set i 0} {$i < $nodes} {incr i} {
	set node($i) [$ns node]
	$node($i) random-motion 0
	$node($i) set X_ [$place uniform 1 1499]
	$node($i) set Y_ [$place uniform 1 299]
	$node($i) set Z_ 0.0
}
for {set i 0} {$i < $connections} {incr i} {
	set from [new Agent/UDP]
	set to [new Agent/Null]
	$ns attach-agent $node($i) $from
	$ns attach-agent $node([expr $nodes - 1 - $i]) $to
	$ns connect $from $to
	set traffic [new Application/Traffic/CBR]
	$traffic set packetSize_ 64
	$traffic set interval_ 0.01
	$traffic attach-agent $from
	$ns at [expr 0.1 * $i] "$traffic start"
}

proc compute {} {
	global ns compute_ms step
	after $compute_ms
	$ns at [expr [$ns now] + $step] compute
}

proc finish {} {
	global ns out
	$ns flush-trace
	close $out
	$ns halt
}

if {$compute_ms} {
	$ns at 0 compute
}
$ns at $seconds finish
$ns run
