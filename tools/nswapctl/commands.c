// SPDX-License-Identifier: GPL-2.0
/*
 * The table of commands, in the order in which --help lists them.
 */
#include <stddef.h>

#include "ctl.h"

const struct ctl_command ctl_commands[] = {
	{ "up", "[--addr A] [--port N] [--lend SIZE] [--peers A[:PORT],…]\n"
	  "                   [--no-broadcast] [--conns N] [--dead-after SEC]\n"
	  "                   [--announce-ms N] [--reconcile SEC] [--size-policy NAME]\n"
	  "                   [--key FILE --members FILE | --secret FILE | --open]",
	  "bring up the node of this network namespace",
	  "  --addr A          address to listen on; default: the first global IPv4 address;\n"
	  "                    A, A:PORT, [A]:PORT, and A%IFACE for a link-local one\n"
	  "  --port N          TCP and UDP port (default 9611)\n"
	  "  --lend SIZE       RAM for other nodes (default 0)\n"
	  "  --peers A,B,…     peers to announce to and connect to; the port is this node's\n"
	  "                    if none is named\n"
	  "  --no-broadcast    announce to listed peers only, not to the subnet\n"
	  "  --conns N         connections to each peer, 2 to 8 (default 3)\n"
	  "  --dead-after SEC  a page-in waits this long for a silent peer (default 30)\n"
	  "  --announce-ms N   time between announcements (default 1000)\n"
	  "  --reconcile SEC   time between comparisons of what a peer holds (default 600)\n"
	  "  --size-policy NAME\n"
	  "                    what decides how much of --lend is lent now (default fixed:\n"
	  "                    all of it), see 'nswapctl policy'\n"
	  "  --key FILE        this node's own key, see 'nswapctl key generate'\n"
	  "  --members FILE    whom it believes, see 'nswapctl key trust'\n"
	  "  --secret FILE     instead of both: every node that has it is a member\n"
	  "  --open            none of these, and that is meant\n"
	  "\n"
	  "Without keys anyone on the subnet can read and replace pages that travel or are\n"
	  "held there: a node comes up so only with --open, for networks you trust. With them\n"
	  "only members take part, and devices are sealed.\n",
	  cmd_up },
	{ "down", "[--netns-id ID] [--now] [--reboot]",
	  "take a node down",
	  "  --netns-id ID     the node of that network namespace, as 'nswapctl nodes' says\n"
	  "  --now             at once: what it holds for others is lost, and their programs\n"
	  "                    fail when they page it in\n"
	  "  --reboot          peers are told that the machine reboots, and await it\n"
	  "\n"
	  "Without --now all that is moved away first, as by 'nswapctl drain --to-home'.\n",
	  cmd_down },
	{ "nodes", "", "list the nodes of this kernel",
	  "The initial network namespace sees all, every other one its own.\n",
	  cmd_nodes },
	{ "device add", "--size SIZE | --home DEVICE [--size SIZE] [--flash DEVICE]...\n"
	  "                   [--tier DEVICE,rank=N]... [--protect KIND]\n"
	  "                   [--class CLASS] [--reserve SIZE] [--seal | --no-seal]\n"
	  "                   [--compress KIND] [--cache SIZE [--early-ack]] [--force]",
	  "add a swap device and print its name",
	  "  --size SIZE       a multiple of 4 KiB (with a home: its size)\n"
	  "  --home DEVICE     partition or disk for what no peer has room for\n"
	  "  --flash DEVICE    the same, used first; up to 4, in this order\n"
	  "  --tier DEVICE,rank=N\n"
	  "                    flash that is used after that of lower ranks, 0 to 255;\n"
	  "                    --flash has rank 0\n"
	  "  --protect KIND    what survives the death of a peer: none; home: each page\n"
	  "                    goes home as well, a moment later; mirror: two peers hold it;\n"
	  "                    parity:N+1: groups of N pages and a check, on N+1 peers;\n"
	  "                    parity:N+2: with two checks, so any two peers may go\n"
	  "  --class CLASS     what peers that give RAM back do with its pages: critical:\n"
	  "                    move them first; normal: move them; droppable: drop them\n"
	  "  --reserve SIZE    RAM that peers set aside for this device alone\n"
	  "  --seal, --no-seal whether its pages leave this node encrypted, so that no peer can\n"
	  "                    read or change one; by default if the node has keys\n"
	  "  --compress KIND   compress its pages before they leave: lz4, zstd (slower, and\n"
	  "                    smaller), or off, the default\n"
	  "  --cache SIZE      RAM of this node for pages written last: reads of them take no\n"
	  "                    network\n"
	  "  --early-ack       writes end when their pages are there, and are sent later;\n"
	  "                    what is rewritten or freed before is not\n"
	  "  --force           even if there is something on it, which is lost\n"
	  "\n"
	  "Its slot map takes 2 MiB of RAM per GiB, 6 more if it is sealed, 1 if compressed.\n"
	  "Then:\n"
	  "mkswap /dev/nswapN && swapon -p 100 /dev/nswapN\n",
	  cmd_device_add },
	{ "device del", "nswapN [--flash DEVICE]", "delete a device that is not in use",
	  "  --flash DEVICE    only this flash of it, which may be in use: the pages that\n"
	  "                    are only there are moved off first\n",
	  cmd_device_del },
	{ "device protect", "nswapN KIND [--no-wait]",
	  "change what survives the death of a peer",
	  "none: nothing. home: all pages, for home has a copy of each; it lags behind by\n"
	  "4 MiB at most, which are in this node's RAM. mirror: all pages, for two peers hold\n"
	  "each, which takes twice the RAM there. parity:N+1, N from 2 to 8: all pages, for\n"
	  "the pages of a group of N and its check are at N+1 peers, and any one of them is\n"
	  "rebuilt from the others; takes (N+1)/N of the RAM, more while pages are rewritten.\n"
	  "parity:N+2: the same with two checks, on N+2 peers, of which any two may go.\n"
	  "The device may be in use. Waits until no page is exposed.\n"
	  "  --no-wait         do not wait; nswapctl device list shows what is exposed\n",
	  cmd_device_protect },
	{ "device rekey", "nswapN [--no-wait]",
	  "change the key of a sealed device",
	  "A new key is drawn, and every page that is sealed with the old one is read, sealed\n"
	  "with the new one and written again, protect_mib_s MiB a second at most; then the\n"
	  "old key is wiped. The device may be in use. Waits until that is done.\n"
	  "  --no-wait         do not wait; nswapctl device list shows what is left\n",
	  cmd_device_rekey },
	{ "device place", "nswapN --to TIER [--offset SIZE] [--length SIZE]",
	  "bring the pages of a device to a tier",
	  "All that it has, or those of a part. The device may be in use. What changes meanwhile,\n"
	  "or finds no room, is where it was; the number of such pages is said, with exit code 1.\n"
	  "A page placed at home stays there until it is written again, placed elsewhere, or\n"
	  "prefetched. Not for devices that parity protects.\n"
	  "  --to TIER         ram: of peers; flash; home: what is there is readable without any\n"
	  "                    peer\n"
	  "  --offset SIZE     where the part begins, a multiple of 4 KiB (default 0)\n"
	  "  --length SIZE     how long it is (default: up to the end)\n",
	  cmd_device_place },
	{ "device list", "", "list the devices of this node", "",
	  cmd_device_list },
	{ "tmpfs create", "SIZE DIR [--protect KIND] [--no-reserve] [--no-seal]\n"
	  "                   [--compress KIND]",
	  "mount a file system for temporary files in peers' RAM",
	  "An ext4 without a journal on a device of its own, on the folder DIR, which is\n"
	  "empty. Peers set aside as much RAM, so that it is the file system that is full\n"
	  "first. What is in it is gone when it is removed or the machine reboots.\n"
	  "  --protect KIND    what survives the death of a peer: none, mirror (second copies\n"
	  "                    as peers have room), parity:N+1 or parity:N+2 (no reserve)\n"
	  "  --no-reserve      peers set nothing aside: a write fails with an I/O error, and\n"
	  "                    files are damaged, when they have no room\n"
	  "  --no-seal         its pages leave this node as they are\n"
	  "  --compress KIND   compressed with lz4 or zstd; off by default\n",
	  cmd_tmpfs_create },
	{ "tmpfs list", "", "list these file systems", "", cmd_tmpfs_list },
	{ "tmpfs remove", "DIR", "unmount one, and delete its device", "", cmd_tmpfs_remove },
	{ "export", "[nswapN --nvme|--nbd [--to ADDR[:PORT]] [--host NQN [--secret FILE]]]",
	  "let a machine without the module swap to a device",
	  "Prints what to type there; without arguments, or with 'list', what is exported and who\n"
	  "is connected there. One machine a device: a second one would write over the swap of the\n"
	  "first. What it frees comes back if it swaps with discard.\n"
	  "  --nvme            with the kernel's NVMe/TCP target\n"
	  "  --nbd             with qemu-nbd\n"
	  "  --to ADDR         address of this machine that the client connects to (default: the\n"
	  "                    node's), and perhaps the port (4420, for NBD 10809); 0.0.0.0 and\n"
	  "                    :: are all of them\n"
	  "  --host NQN        only a client of that name, see its /etc/nvme/hostnqn\n"
	  "  --secret FILE     which proves it by the secret in FILE, as nvme gen-dhchap-key makes\n"
	  "\n"
	  "Pages travel between here and the client as they are, of a sealed device too.\n",
	  cmd_export },
	{ "unexport", "nswapN [--now]", "export a device no longer",
	  "  --now             even if a client is connected: its programs fail when they page\n"
	  "                    in what is there\n",
	  cmd_unexport },
	{ "peers", "", "list the peers this node knows", "", cmd_peers },
	{ "stat", "[--latency | --cluster [--interval SEC [--times N]]]",
	  "show where lent RAM and swapped pages are, and counters",
	  "  --latency         what each step of page-outs and page-ins took instead, for\n"
	  "                    the pages since 'nswapctl set latency 1'\n"
	  "  --cluster         one line of totals for this node and each of its peers, which\n"
	  "                    are asked for them and have 2 s to answer; out and in are pages\n"
	  "                    stored and read back since the node came up\n"
	  "  --interval SEC    again and again, out and in being those of a second then; 1 to\n"
	  "                    3600 seconds between two looks\n"
	  "  --times N         so many tables, and end\n",
	  cmd_stat },
	{ "metrics", "[--textfile | --http]", "print all that is to be seen as OpenMetrics",
	  "Of the node, peers, owners and devices, for Prometheus; nswap_up is 0 if there is\n"
	  "no node or no module.\n"
	  "  --textfile        in the older format, which node_exporter's textfile collector\n"
	  "                    reads\n"
	  "  --http            as the answer to one HTTP request on standard input, for a\n"
	  "                    socket unit\n",
	  cmd_metrics },
	{ "report", "FILE | --record FILE [--every SEC]",
	  "print a page of HTML with figures of the last hour",
	  "From a file that --record writes; the page needs nothing from elsewhere.\n"
	  "  --record FILE     write what is to be seen of the node to FILE again and again,\n"
	  "                    until interrupted; it keeps one to two hours\n"
	  "  --every SEC       between two of these, 1 to 600 (default 5)\n",
	  cmd_report },
	{ "profile", "[--device nswapN] [--reset]",
	  "show how many pages are under way at once",
	  "Sampled every profile_ms while there is a device.\n"
	  "  --device nswapN   only that device's, not those of all together\n"
	  "  --reset           start again with no samples instead\n",
	  cmd_profile },
	{ "trace", "[--follow]", "show which slots were paged out and in last",
	  "Kept since 'nswapctl set trace 1', 32768 entries at most.\n"
	  "  --follow          go on until interrupted; JSON is one object a line then\n",
	  cmd_trace },
	{ "lend", "SIZE", "change how much RAM this node lends at most",
	  "Less than it holds is no error: nothing new is taken, and what is held above\n"
	  "it is the surplus that 'nswapctl stat' shows.\n",
	  cmd_lend },
	{ "drain", "[--to-home]", "move all pages held for others to other peers",
	  "The node lends nothing from then on. Says how far it is, and how many pages\n"
	  "could not move; refused if no peer has room at all.\n"
	  "  --to-home         no peer has room: then to the flash and homes of their owners\n",
	  cmd_drain },
	{ "top", "[--interval SEC] [--once]",
	  "show the node, its peers and devices live, on the whole screen",
	  "  --interval SEC    between two looks, 0.1 to 3600 (default 2)\n"
	  "  --once            print one picture, of what happens in that time, and end\n"
	  "\n"
	  "Keys: q quit, s sort by name, used or free, a all, p peers, d devices, + and -\n"
	  "the interval, arrows the view and rows.\n",
	  cmd_top },
	{ "watch", "[--times N]", "show lent and used RAM and moves, every second",
	  "  --times N         so often, and end; without it until interrupted\n"
	  "\n"
	  "JSON is one object a line.\n",
	  cmd_watch },
	{ "policy", "[place|size|read NAME] [--device nswapN]",
	  "list the policies, or choose one",
	  "  place             which peer gets a page\n"
	  "  size              how much of what 'nswapctl lend' allows is lent now\n"
	  "  read              which copy is read of a page that flash has as well\n"
	  "  --device nswapN   place and read of that device only; with NAME default it\n"
	  "                    follows the node again. The list marks with * what the\n"
	  "                    device has chosen, with + what it follows the node in\n",
	  cmd_policy },
	{ "prefetch", "[show | on | off | set KEY VALUE] [--device nswapN]",
	  "bring pages nearer ahead of their use",
	  "From ram: those that peers hold, to flash or disk, which is home; from disk\n"
	  "to ram or flash; from flash to ram or disk. Devices without flash or home\n"
	  "are left alone. KEY is\n"
	  "  period_ms         time between wake-ups\n"
	  "  pct               percent that percent-out and percent-used take\n"
	  "  when, count, which, from, to, after\n"
	  "                    a name that 'nswapctl prefetch' lists; from brings a to\n"
	  "  enable            on or off\n"
	  "  --device nswapN   of that device only, all but period_ms and pct; with VALUE\n"
	  "                    default it follows the node again\n",
	  cmd_prefetch },
	{ "psi", "[--every SEC]", "feed this machine's memory pressure to the node",
	  "Sets the knob psi to 'some avg10' of /proc/pressure/memory, which a module\n"
	  "cannot read; the size policy 'pressure' uses it.\n"
	  "  --every SEC       again and again, until interrupted; then the knob is 0\n",
	  cmd_psi },
	{ "owner", "[--rules FILE] [--dry-run] [--input FOLDER] [--terminals FOLDER] [--cpu FILE]",
	  "tell the node whether the owner of this machine is away",
	  "The size policy 'owner' lends while the knob owner_away_s says so: it is renewed\n"
	  "while nothing is typed, the mouse rests and programs use little, by rules; and 0 with\n"
	  "the first key, and when this ends. Runs until interrupted, and prints each change.\n"
	  "  --rules FILE      these, not /etc/nswap/owner.conf; without a file 15 minutes\n"
	  "                    without a key, and programs below 30 % of a processor\n"
	  "  --input FOLDER    input devices (/dev/input)\n"
	  "  --terminals FOLDER\n"
	  "                    terminals (/dev)\n"
	  "  --cpu FILE        what programs use of the processors (/proc/stat)\n"
	  "  --dry-run         only print\n",
	  cmd_owner },
	{ "set", "[KNOB VALUE]", "list the knobs, or set one", "", cmd_set },
	{ "weight", "[NODE N]", "list weights of other nodes, or set one",
	  "  NODE              address of a peer, or node id, as 'nswapctl stat' says\n"
	  "  N                 10 to 1000; 100 is that of all of which none was set\n"
	  "\n"
	  "What a node gets of this one beside the others, where there is not enough for all:\n"
	  "processor time and pages to fill. Kept until the node goes down, or by 'weight' in\n"
	  "nswap.conf(5).\n",
	  cmd_weight },
	{ "key generate", "FILE [--secret]", "make a key, and print what others may know of it",
	  "Writes this node's key to FILE, which others cannot read, and prints its public\n"
	  "half, for 'nswapctl key trust' on the other nodes.\n"
	  "  --secret          make a secret for 'nswapctl up --secret FILE' instead\n",
	  cmd_key_generate },
	{ "key show", "FILE", "print the public half of a key", "", cmd_key_show },
	{ "key trust", "FILE NAME PUBLIC", "add a member to a file of members",
	  "A file that is not there is made, with a fresh secret of the cluster. Copy it to\n"
	  "every node; those that are up take it with 'nswapctl key apply FILE'.\n",
	  cmd_key_trust },
	{ "key revoke", "FILE NAME|PUBLIC", "take a member out of a file of members",
	  "Then 'nswapctl key apply FILE' on every node that is up.\n",
	  cmd_key_revoke },
	{ "key list", "FILE", "list the members in a file", "", cmd_key_list },
	{ "key apply", "FILE", "believe exactly these members from now on",
	  "Connections begin again; those of members are back at once.\n",
	  cmd_key_apply },
	{ "check", "[--file FILE]", "say what is wrong in the configuration file",
	  "  --file FILE       this one, not /etc/nswap/nswap.conf, see nswap.conf(5)\n"
	  "\n"
	  "Each line that is wrong, with why and what is allowed there. It changes nothing\n"
	  "and needs neither the module nor a right. Exit code 1 if something is wrong.\n",
	  cmd_check },
	{ "apply", "[--file FILE] [--dry-run]", "do what the configuration file says and is not yet so",
	  "  --file FILE       this one, not /etc/nswap/nswap.conf, see nswap.conf(5)\n"
	  "  --dry-run         only say which commands that would be\n"
	  "\n"
	  "Refused as a whole if something cannot be changed now. Interrupted, it can be\n"
	  "given again.\n",
	  cmd_apply },
	{ "doctor", "[--fix [--yes]]", "look for what is wrong and say what mends it",
	  "  --fix             ask about each command that mends something and is safe here, do\n"
	  "                    it, and look again\n"
	  "  --yes             do them all without asking\n"
	  "\n"
	  "Waits up to 3 seconds for announcements. Exit code 1 if something is wrong.\n",
	  cmd_doctor },
};

const unsigned int ctl_nr_commands = sizeof(ctl_commands) / sizeof(*ctl_commands);
