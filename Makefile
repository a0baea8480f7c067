# SPDX-License-Identifier: GPL-2.0
# For people; the objects of the module are in Kbuild.
#
#	make            the module for the running kernel, and the tools
#	make demo       a cluster with a liar in a VM, in about two minutes
#	make check      every kind of test, in about 15 minutes
#	make check-all  all tests on all kernels, and the campaigns: a day; it goes on where it was left
#	make install    DESTDIR= PREFIX=/usr (see README)
#	make help       everything else
#
#	make deps       install the Debian packages that building and testing need
#	make module     the module for KVER=@KVER@, in @BUILD@/KVER
#	make uninstall, make clean

VERSION := $(shell sed -n 's/^.define BFTM_VERSION "\(.*\)"/\1/p' kmod/version.h)
PREFIX ?= /usr
SBINDIR ?= $(PREFIX)/sbin
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= /lib/systemd/system
UDEVDIR ?= /lib/udev/rules.d
CONFDIR ?= /etc/bftmutex
LIBEXECDIR ?= $(PREFIX)/libexec
EXAMPLEDIR ?= $(PREFIX)/share/doc/bftmutex/examples

# Kernel for which the module is built by default, and kernels of the tests.
KVER ?= $(shell uname -r)
TEST_KERNELS := 6.1 6.12
headers_of = $(wildcard /usr/src/linux-headers-$(patsubst %-rt,%,$(1)).*-amd64)
header_release = $(patsubst /usr/src/linux-headers-%,%,$(lastword $(sort \
	$(if $(filter %-rt,$(1)),$(filter %-rt-amd64,$(headers_of)),$(filter-out %-rt-amd64,$(headers_of))))))

BUILD := build
BIN := $(BUILD)/bin

.PHONY: all compiler libraries module no-release deps clean help

all: module tools

help:
	@sed -n 's/^#\t//p' $(filter Makefile %.mk,$(MAKEFILE_LIST)) | sed 's,@BUILD@,$(BUILD),; s,@KVER@,$(KVER),'

deps:
	@selftests/deps

# A missing compiler or library is named with its package before the build begins.
DEPS_HINT := selftests/deps --for build installs all that building takes

compiler:
	@command -v $(firstword $(CC)) >/dev/null || { \
		echo "no compiler, '$(CC)': apt-get install gcc; $(DEPS_HINT)" >&2; exit 1; }

libraries: compiler
	@command -v pkg-config >/dev/null || { \
		echo "no pkg-config: apt-get install pkgconf; $(DEPS_HINT)" >&2; exit 1; }
	@lacks=; for library in $(PKGS); do \
		pkg-config --exists $$library || lacks="$$lacks $$library"; \
	done; \
	[ -z "$$lacks" ] || { \
		echo "pkg-config finds no$$lacks; $(DEPS_HINT)" >&2; exit 1; }

# The module: sources are linked into a folder for each kernel.

module: $(if $(KVER),$(BUILD)/$(KVER)/$(if $(TEST_PROTOCOLS),test-protocols/)bftmutex.ko,no-release)

no-release:
	@echo "KVER='': must be the release of a kernel, such as $$(uname -r)" >&2; exit 1

KDIR ?= /lib/modules/$*/build
KMOD_SOURCES := $(wildcard kmod/*.[ch] kmod/*/*.[ch] kmod/*/*/*.[ch] uapi/linux/*.h) Kbuild

# Objects that were built for another kernel with the same release do not fit this one.
$(BUILD)/%/kernel: FORCE | compiler
	@test -d $(KDIR) || { \
		echo 'no kernel headers for $*: apt-get install linux-headers-$*' >&2; \
		exit 1; }
	@config=$$(cksum <$(KDIR)/include/config/auto.conf) || exit; \
	[ "$$config" = "$$(cat $@ 2>/dev/null)" ] || \
		{ rm -rf $(@D) && mkdir -p $(@D) && echo "$$config" >$@; }
.PRECIOUS: $(BUILD)/%/kernel
FORCE:

# With KEEP_WORDS the folder keeps the output; each compiled file is named, also with make -s.
$(BUILD)/%/bftmutex.ko: $(BUILD)/%/kernel $(KMOD_SOURCES)
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/uapi $(@D)
	$(MAKE) -C $(KDIR) M=$(abspath $(@D)) $(KBUILD_FLAGS) $(if $(KEEP_WORDS),quiet=quiet_) modules \
		$(if $(KEEP_WORDS),>$(@D)/words 2>&1 || { cat $(@D)/words >&2; exit 1; })
	@touch $@

include helper/build.mk
include helper/integrations/build.mk
include helper/packaging/build.mk
include selftests/build.mk
include selftests/core/proof/build.mk
include Documentation/build.mk

-include $(shell find /dev/null $(wildcard $(BUILD)/obj*) -name '*.d' -type f 2>/dev/null)

clean:
	rm -rf $(BUILD)
