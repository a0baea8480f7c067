# SPDX-License-Identifier: GPL-2.0
# For people; the objects of the module are in Kbuild.
#
#	make            the module for the running kernel, and the tools
#	make demo       a cluster with a liar in a VM, in about two minutes
#	make check      every test
#	make install    DESTDIR= PREFIX=/usr (see README)
#	make help       everything else

VERSION := 0.1.0
PREFIX ?= /usr
SBINDIR ?= $(PREFIX)/sbin
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= /lib/systemd/system
UDEVDIR ?= /lib/udev/rules.d
CONFDIR ?= /etc/bftmutex

# Headers for which the module is built by default, and those of the tests.
KVER ?= $(shell uname -r)
TEST_KERNELS := 6.1 6.12
header_release = $(notdir $(patsubst %/,%,$(lastword $(sort \
	$(wildcard /lib/modules/$(1).*/build/)))))

BUILD := build
BIN := $(BUILD)/bin

.PHONY: all module tools demo check deps install uninstall clean help

all: module tools

help:
	@sed -n 's/^#\t//p' Makefile
	@echo 'make deps       install the Debian packages that building and testing need'
	@echo 'make tools      the programs, in $(BIN)'
	@echo 'make module     the module for KVER=$(KVER), in $(BUILD)/KVER'
	@echo 'make unit       unit tests alone, under ASan and UBSan'
	@echo 'make static     checkpatch, sparse, W=1, shellcheck, man pages'
	@echo 'make vm         tests in VMs alone'
	@echo 'make uninstall, make clean'

deps:
	@selftests/deps

# The module: sources are linked into a folder for each kernel.

module: $(BUILD)/$(KVER)/bftmutex.ko

KMOD_SOURCES := $(wildcard kmod/*.[ch] kmod/core/*.[ch] uapi/linux/*.h) Kbuild

$(BUILD)/%/bftmutex.ko: $(KMOD_SOURCES)
	@test -d /lib/modules/$*/build || { \
		echo 'no kernel headers for $*: apt-get install linux-headers-$*' >&2; \
		exit 1; }
	@mkdir -p $(@D)
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/uapi $(@D)
	$(MAKE) -C /lib/modules/$*/build M=$(CURDIR)/$(@D) $(KBUILD_FLAGS) modules
	@touch $@

# The tools

CFLAGS ?= -O2 -g
PKGS := libnl-genl-3.0 json-c libconfuse libcrypto libbsd
CPPFLAGS += -D_GNU_SOURCE -DBFTM_VERSION=\"$(VERSION)\" -Iuapi
CFLAGS_ALL := -std=gnu11 -Wall -Wextra -Wformat=2 -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -fstack-protector-strong $(CFLAGS)
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS))
NL_LIBS = $(shell pkg-config --libs libnl-genl-3.0)
CONF_LIBS = $(shell pkg-config --libs libconfuse)
JSON_LIBS = $(shell pkg-config --libs json-c)
CRYPTO_LIBS = $(shell pkg-config --libs libcrypto)

CORE := $(addprefix kmod/core/,wire quorum backoff_client)
CORE_SERVER := kmod/core/backoff_server
CONF := $(addprefix helper/,conf conf_server syntax value duration)
KEYS := $(addprefix helper/,keys mac)
DAEMON := $(addprefix helper/,bftmutexd loop log identity cluster acquire \
	release evidence upcall status nl)
CTL := $(basename $(wildcard helper/ctl*.c)) helper/bftmutexctl helper/nl
WRAPPER := $(addprefix helper/,bftmutex cmdline run libbftmutex duration)
LIAR := $(basename $(wildcard selftests/liar/*.c))

PROGRAMS := bftmutexd bftmutexctl bftmutex bftmutex-liar
LIBRARIES := libbftmutex.a libbftmutex.so.0

tools: $(addprefix $(BIN)/,$(PROGRAMS) $(LIBRARIES))

obj = $(patsubst %,$(BUILD)/obj/%.o,$(1))

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BIN)/bftmutexd: $(call obj,$(DAEMON) $(CONF) $(KEYS) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(JSON_LIBS) $(CRYPTO_LIBS)

$(BIN)/bftmutexctl: $(call obj,$(CTL) $(CONF) $(KEYS) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(JSON_LIBS) $(CRYPTO_LIBS)

$(BIN)/bftmutex: $(call obj,$(WRAPPER))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

$(BIN)/bftmutex-liar: $(call obj,$(LIAR) $(CONF) $(KEYS) $(CORE) $(CORE_SERVER))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(CONF_LIBS) $(CRYPTO_LIBS)

$(BIN)/libbftmutex.a: $(call obj,helper/libbftmutex)
	@mkdir -p $(@D)
	$(AR) rcs $@ $^

$(BIN)/libbftmutex.so.0: helper/libbftmutex.c helper/libbftmutex.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(LDFLAGS) -fPIC -shared -Wl,-soname,libbftmutex.so.0 -o $@ $<

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD)
