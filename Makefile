# SPDX-License-Identifier: GPL-2.0
# Verbs. What the module is made of stands in Kbuild.
#
#   make [KVER=release | KDIR=folder] [INJECT=1] [COVER=1] [W=1] [C=2]
#
# A kernel's objects live in build/<release>/, a farm of symbolic links to the
# sources, so one tree serves several kernels at once (MO= is not in 6.12; the
# farm can go when 6.12 goes).
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all

VERSION := $(shell sed -n 's/^NSWAP_VERSION := //p' Kbuild)
CC ?= gcc
CFLAGS ?= -O2 -g
PREFIX ?= /usr
UNITS ?= /lib/systemd/system

# -- the kernel to build for ------------------------------------------------
# KDIR wins, then KVER, then the newest headers that are installed.
ifndef KDIR
ifdef KVER
KDIR := $(firstword $(wildcard /lib/modules/$(KVER)/build \
	/usr/src/linux-headers-$(KVER)))
else
KDIR := $(shell ls -d /lib/modules/*/build 2>/dev/null | sort -V | tail -n 1)
endif
endif

# The header says what `uname -r` will say; kernel.release of a distribution
# may not.
RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
UM = $(shell grep -s '^CONFIG_UML=y' $(KDIR)/.config)
KARGS = $(if $(UM),ARCH=um) $(if $(INJECT),NSWAP_INJECT=1) \
	$(if $(COVER),NSWAP_COVER=1) \
	$(if $(KUNIT),NSWAP_KUNIT=1) $(if $(LACKS),NSWAP_LACKS=$(LACKS))
OUT = build/$(RELEASE)$(if $(INJECT),-inject)$(if $(COVER),-cover)$(if $(LACKS),-lacks)

# -- building ---------------------------------------------------------------
SOURCES := Kbuild $(wildcard nswap/*.[ch] nswap/*/*.[ch] policy/*.[ch] prefetch/*.[ch] proc/*.[ch] \
	compat/*.[ch] compat/Kbuild.include compat/include/*/*.h \
	include/uapi/linux/*.h tests/kunit/*.[ch] tests/cover/*.[ch])

all: module nswapctl nswap-lend lib

kernel:
	@if [ -z "$(RELEASE)" ]; then \
		if [ -n "$(KDIR)" ]; then \
			echo "error: $(KDIR) is no configured kernel tree (no include/generated/utsrelease.h)"; \
		else \
			echo "error: no kernel headers found: apt-get install linux-headers-$(or $(KVER),amd64)"; \
		fi >&2; \
		exit 1; \
	fi

farm: kernel
	@tools/farm.sh $(OUT) $(SOURCES)

# One build a folder at a time: people and tests build side by side.
module: farm
	+@flock $(OUT)/.lock $(MAKE) -C $(KDIR) M=$(CURDIR)/$(OUT) $(KARGS) modules
	@echo "  built   $(OUT)/$(if $(KUNIT),nswap_kunit,nswap).ko"

kunit:
	+@$(MAKE) module KUNIT=1

# Modelled flash and disk for tests and benchmarks: a module of their own.
MODEL_OUT = build/$(RELEASE)-model

model-dev: kernel
	@tools/farm.sh $(MODEL_OUT) $(wildcard tests/model_dev/*.[ch]) tests/model_dev/Kbuild
	+@flock $(MODEL_OUT)/.lock $(MAKE) -C $(KDIR) \
		M=$(CURDIR)/$(MODEL_OUT)/tests/model_dev $(KARGS) modules
	@echo "  built   $(MODEL_OUT)/tests/model_dev/model_dev.ko"

progs:
	+@$(MAKE) -C tests/progs OUT=$(CURDIR)/build/progs

lib:
	@mkdir -p build/lib
	+@flock build/lib/.lock $(MAKE) -C lib OUT=$(CURDIR)/build/lib

bench-programs:
	+@$(MAKE) -C bench/programs OUT=$(CURDIR)/build/bench-programs

# nswapctl-static is the same without shared libraries: what tests of the lab start thousands
# of times where finding them is half of what a command costs
nswapctl nswapctl-static:
	@mkdir -p build
	+@flock build/.$@.lock $(MAKE) build/$@

CTL_LIBRARIES := libnl-genl-3.0 blkid libsodium
CTL_SOURCES := $(wildcard tools/nswapctl/*.c)
build/nswapctl build/nswapctl-static: $(CTL_SOURCES) $(wildcard tools/nswapctl/*.h) \
		$(wildcard include/uapi/linux/*.h) nswap/core/knob_list.h Kbuild
	@pkg-config --exists $(CTL_LIBRARIES) || { \
		echo "error: libnl, libblkid or libsodium is missing: apt-get install libnl-genl-3-dev libblkid-dev libsodium-dev pkg-config" >&2; \
		exit 1; \
	}
	@mkdir -p build
	@echo "  CC      $@"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes \
		-D_GNU_SOURCE -DNSWAP_VERSION='"$(VERSION)"' -Iinclude/uapi \
		-Itools/nswapctl $$(pkg-config --cflags $(CTL_LIBRARIES)) \
		-o $@ $(CTL_SOURCES) $(if $(findstring static,$@),-static) \
		$$(pkg-config $(if $(findstring static,$@),--static) --libs $(CTL_LIBRARIES)) -lm

# the module's server as a program, for machines that cannot load a module
nswap-lend:
	@mkdir -p build
	+@flock build/.nswap-lend.lock $(MAKE) -C tools/nswap-lend OUT=$(CURDIR)/build

all-kernels:
	@tools/build_all.sh

# -- checking ---------------------------------------------------------------
test:
	@tests/setup/setup.sh
	@tests/run $(SUITE)

check:
	@tools/check.sh $(CHECK)

demo:
	@tests/setup/setup.sh build vm
	@tests/demo/demo

bench:
	@tests/setup/setup.sh
	@bench/run $(BENCH)

paper:
	@tests/setup/setup.sh
	@bench/paper $(PAPER)

shell:
	@tests/setup/setup.sh
	@tests/lab/shell

# -- installing -------------------------------------------------------------
COMPLETION := tools/nswapctl/completion

install: all install-tools install-lib
	install -D -m 644 $(OUT)/nswap.ko \
		$(DESTDIR)/lib/modules/$(RELEASE)/updates/nswap.ko
	$(if $(DESTDIR),,depmod $(RELEASE))

install-tools: nswapctl nswap-lend
	install -D -m 755 build/nswapctl $(DESTDIR)$(PREFIX)/sbin/nswapctl
	install -D -m 755 build/nswap-lend $(DESTDIR)$(PREFIX)/sbin/nswap-lend
	install -D -m 755 dist/nswap-node $(DESTDIR)$(PREFIX)/lib/nswap/nswap-node
	install -D -m 644 tools/nswapctl/nswapctl.8 \
		$(DESTDIR)$(PREFIX)/share/man/man8/nswapctl.8
	install -D -m 644 tools/nswap-lend/nswap-lend.8 \
		$(DESTDIR)$(PREFIX)/share/man/man8/nswap-lend.8
	install -D -m 644 tools/nswapctl/nswap.conf.5 \
		$(DESTDIR)$(PREFIX)/share/man/man5/nswap.conf.5
	install -D -m 644 $(COMPLETION)/nswapctl \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/nswapctl
	install -D -m 644 tools/nswap-lend/completion/nswap-lend \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/nswap-lend
	install -D -m 644 $(COMPLETION)/_nswapctl \
		$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_nswapctl
	[ -e $(DESTDIR)/etc/nswap/nswap.conf ] || \
		install -D -m 644 dist/nswap.conf $(DESTDIR)/etc/nswap/nswap.conf
	install -D -m 644 dist/nswap.service $(DESTDIR)$(UNITS)/nswap.service
	sed -i 's|=/usr/|=$(PREFIX)/|' $(DESTDIR)$(UNITS)/nswap.service

install-lib: lib
	+@$(MAKE) -C lib OUT=$(CURDIR)/build/lib install
	$(if $(DESTDIR),,ldconfig)

# Of every kernel: with the headers of older ones gone, no build would name them. What DKMS
# made is elsewhere, in updates/dkms.
uninstall: uninstall-ask uninstall-tools uninstall-lib
	for ko in $(DESTDIR)/lib/modules/*/updates/nswap.ko; do \
		[ -e "$$ko" ] || continue; \
		rm -f "$$ko"; \
		$(if $(DESTDIR),,ko=$${ko%/updates/nswap.ko}; depmod "$${ko##*/}";) \
	done

# No node that is up can be taken down without nswapctl, and packages have files of their own.
uninstall-ask:
	@[ -n "$(DESTDIR)" ] || [ ! -e /sys/module/nswap ] || { \
		echo "error: the module is loaded: systemctl disable --now nswap, or nswapctl down and rmmod nswap" >&2; \
		exit 1; \
	}
	@[ -n "$(DESTDIR)" ] || ! dpkg -S $(PREFIX)/sbin/nswapctl > /dev/null 2>&1 || { \
		echo "error: $(PREFIX)/sbin/nswapctl is of a package: apt remove nswap-tools" >&2; \
		exit 1; \
	}

uninstall-tools: uninstall-ask
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,sbin/nswapctl sbin/nswap-lend lib/nswap/nswap-node \
		share/man/man8/nswapctl.8 share/man/man8/nswap-lend.8 share/man/man5/nswap.conf.5 \
		share/bash-completion/completions/nswapctl \
		share/bash-completion/completions/nswap-lend \
		share/zsh/vendor-completions/_nswapctl) $(DESTDIR)$(UNITS)/nswap.service
	! cmp -s dist/nswap.conf $(DESTDIR)/etc/nswap/nswap.conf || \
		rm -f $(DESTDIR)/etc/nswap/nswap.conf
	for dir in $(DESTDIR)$(PREFIX)/lib/nswap $(DESTDIR)/etc/nswap; do \
		[ ! -d $$dir ] || rmdir --ignore-fail-on-non-empty $$dir; \
	done

uninstall-lib: uninstall-ask
	+@$(MAKE) -C lib OUT=$(CURDIR)/build/lib uninstall
	$(if $(DESTDIR),,ldconfig)

deb:
	@tests/setup/setup.sh build deb
	@tools/build_deb.sh

release:
	@tests/setup/setup.sh build deb
	@tools/release.sh

clean:
	rm -rf build

help:
	@echo "nswap $(VERSION): swap to the idle RAM of other nodes"
	@echo
	@echo "  make                build nswap.ko, nswapctl, nswap-lend and libnswap into build/"
	@echo "       KVER=release   for that kernel's installed headers (default: the newest)"
	@echo "       KDIR=folder    for the kernel tree in that folder (user-mode kernels too)"
	@echo "       W=1 C=2        with more warnings, with sparse"
	@echo "       LACKS=PROBE    as if the kernel had not what that probe of compat/ finds"
	@echo "  make all-kernels    build for every kernel within reach"
	@echo "  make install        install them, manual pages, completions, nswap.conf and the"
	@echo "                      systemd unit (DESTDIR, PREFIX, LIBDIR and UNITS apply)"
	@echo "  make uninstall      delete what it installed, with the same of them; an nswap.conf"
	@echo "                      that was changed, keys and secrets stay"
	@echo "  make deb            Debian packages of module, tools and documents into build/deb/"
	@echo "  make release        source, packages, notes and checksums of this commit into build/release/"
	@echo "  make clean          remove build/"
	@echo
	@echo "  make demo           three kernels, one program bigger than its node's RAM"
	@echo "  make test           all tests; SUITE=unit|model|fuzz|lab|long|chaos|crash|vm|kernels|install|pressure|debug|kcsan|faults|cover for a part"
	@echo "  make check          lints; CHECK=name for one of them, CHECK=quick for the quick ones"
	@echo "  make bench          measurements; BENCH=cost|device|swap|others|apps|moves|idle|fairness|tiers|policy|trace|protect|size|tmpfs for one"
	@echo "  make paper          the papers' tables; PAPER='N-T3 N-T4' for some"
	@echo "  make shell          a prompt inside a 3-node lab cluster with swap on"
	@echo
	@echo "  make kunit          build nswap_kunit.ko"
	@echo "  make INJECT=1       build nswap.ko with fault injection, for tests only"
	@echo "  make COVER=1        build nswap.ko with counters of the lines that were run, for tests only"
	@echo "  make model-dev      build model_dev.ko: modelled flash and disks, for tests only"
	@echo "  make nswapctl, make nswap-lend, make lib, make progs, make bench-programs"
	@echo "                      the tool, the lender, libnswap, the test programs, the"
	@echo "                      workloads of bench"

.PHONY: all kernel farm module kunit model-dev progs bench-programs lib nswapctl nswapctl-static \
	nswap-lend all-kernels test check demo bench paper shell install install-tools install-lib \
	uninstall uninstall-ask uninstall-tools uninstall-lib deb release clean help
