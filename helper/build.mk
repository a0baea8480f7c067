# SPDX-License-Identifier: GPL-2.0
# The programs and the library, and their installation.
#
#	make tools      the programs, in @BUILD@/bin

.PHONY: tools install uninstall

# Lines for backtraces; names of variables as well (-g) take a third more of the time of a build.
CFLAGS ?= -O2 -g1
PKGS := libnl-genl-3.0 json-c libconfuse libcrypto libbsd libmd libseccomp sqlite3 ncursesw
CPPFLAGS += -D_GNU_SOURCE -DBFTM_VERSION=\"$(VERSION)\" -Iuapi -iquote kmod -iquote helper -I.
# Options that make mistakes harder to exploit; checked by selftests/static/hardening.
HARDEN := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE \
	$(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),-fcf-protection)
override LDFLAGS += -Wl,-z,relro,-z,now
CFLAGS_ALL := -std=gnu11 -Wall -Wextra -Wformat=2 -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes $(HARDEN) $(CFLAGS)
# ask,NAME,COMMAND: set the variable when it is first wanted, and once
ask = $(eval $(1) := $$(shell $(2)))$($(1))
PKG_CFLAGS = $(call ask,PKG_CFLAGS,pkg-config --cflags $(PKGS))
NL_LIBS = $(call ask,NL_LIBS,pkg-config --libs libnl-genl-3.0)
CONF_LIBS = $(call ask,CONF_LIBS,pkg-config --libs libconfuse)
JSON_LIBS = $(call ask,JSON_LIBS,pkg-config --libs json-c)
CRYPTO_LIBS = $(call ask,CRYPTO_LIBS,pkg-config --libs libcrypto)
MD_LIBS = $(call ask,MD_LIBS,pkg-config --libs libmd)
SECCOMP_LIBS = $(call ask,SECCOMP_LIBS,pkg-config --libs libseccomp)
SQLITE_LIBS = $(call ask,SQLITE_LIBS,pkg-config --libs sqlite3)
NCURSES_LIBS = $(call ask,NCURSES_LIBS,pkg-config --libs ncursesw)

CORE := $(addprefix kmod/core/,form wire quorum ask release peer who $(addprefix backoff/,client first round wait hold read convert reassert fence host ended) \
	$(addprefix ordering/,wire state client rank choose vote transfer listing))
CORE_SERVER := $(addprefix kmod/core/,serve admit access members $(addprefix backoff/,protocol server try settle grants parties value) \
	$(addprefix ordering/,server body pending upload page))
# The table of protocols that hosts run.
TABLE := kmod/protocols

# The rooms of helper/, lower ones first; each program is linked with those it needs.
room = $(basename $(wildcard helper/$(1)/*.c))
ROOMS := $(foreach name,loop text config types crypto kernel cluster lock order daemon journal lib run ctl trace,\
	$(call room,$(name)))

# Programs as types are run by the daemon alone.
OBJECT_EXEC := $(addprefix helper/types/,exec exec_text)
OBJECT := helper/config/builtin $(filter-out $(OBJECT_EXEC),$(call room,types))
CONF := $(sort $(call room,config) $(OBJECT) helper/text/distance helper/loop/reason)
KEYS := $(filter-out helper/crypto/digest,$(call room,crypto)) helper/loop/log
DAEMON := helper/bftmutexd $(filter-out helper/loop/log,$(call room,loop)) $(call room,text) \
	helper/crypto/digest $(OBJECT_EXEC) \
	$(foreach name,kernel cluster lock order daemon,$(call room,$(name)))
CTL := helper/bftmutexctl $(call room,ctl) $(call room,journal) $(call room,text) helper/kernel/nl \
	helper/lib/libbftmutex helper/loop/descriptors helper/loop/clock
WRAPPER := helper/bftmutex $(call room,run) helper/config/duration helper/lib/libbftmutex \
	$(addprefix helper/,daemon/notify loop/descriptors loop/log text/mode text/shown)

TRACE := helper/bftmutex-trace $(call room,trace) helper/config/duration helper/loop/descriptors \
	$(addprefix helper/text/,json mode shown) $(addprefix kmod/core/,form wire quorum)

PROGRAMS := bftmutexd bftmutexctl bftmutex bftmutex-trace
LIBRARIES := libbftmutex.a libbftmutex.so.0
LIBRARY := helper/lib/libbftmutex helper/lib/bftmutex_dlm

tools: $(addprefix $(BIN)/,$(PROGRAMS) $(LIBRARIES))

obj = $(patsubst %,$(BUILD)/obj/%.o,$(1))

$(BUILD)/obj/%.o: %.c | libraries
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# link,OPTIONS,LIBRARIES: link the prerequisites into the program
define link
@mkdir -p $(@D)
$(CC) $(CFLAGS_ALL) $(LDFLAGS) $(1) -o $@ $^ $(2)
endef

# libs,LIBRARIES: as they are; but a program of a folder "quick" contains what it takes of them, so that
# its start looks up no names in them. VMs of "make check" run these.
archived = -no-pie -s -Wl,-Bstatic $(1) -Wl,-Bdynamic -lm
libs = $(if $(findstring /quick/,$@),$(call archived,$(1)),$(1))

$(BIN)/bftmutexd $(BIN)/quick/bftmutexd: $(call obj,$(DAEMON) $(CONF) $(KEYS) $(CORE) $(CORE_SERVER) $(TABLE))
	$(call link,-pie,$(call libs,$(NL_LIBS) $(CONF_LIBS) $(JSON_LIBS) $(CRYPTO_LIBS) $(SECCOMP_LIBS)))

$(BIN)/bftmutexctl $(BIN)/quick/bftmutexctl: $(call obj,$(CTL) $(CONF) $(KEYS) $(CORE))
	$(call link,-pie,$(call libs,$(NL_LIBS) $(CONF_LIBS) $(JSON_LIBS) $(CRYPTO_LIBS) $(SQLITE_LIBS) \
		$(NCURSES_LIBS)))

$(BIN)/bftmutex: $(call obj,$(WRAPPER))
	$(call link,-pie,$(MD_LIBS))

$(BIN)/bftmutex-trace: $(call obj,$(TRACE))
	$(call link,-pie,$(JSON_LIBS) $(CRYPTO_LIBS))

$(BIN)/libbftmutex.a: $(call obj,$(LIBRARY))
	@mkdir -p $(@D)
	$(AR) rcs $@ $^

$(BIN)/libbftmutex.so.0: $(LIBRARY:%=%.c) $(LIBRARY:%=%.h) uapi/linux/bftmutex.h | compiler
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(LDFLAGS) -fPIC -shared -Wl,-soname,libbftmutex.so.0 -o $@ $(filter %.c,$^)

.PRECIOUS: $(BUILD)/obj/%.o

INSTALL ?= install

# On a host nothing works without the module; an installation below DESTDIR may lack it.
install: tools
	@[ -n "$(DESTDIR)" ] || [ -e $(BUILD)/$(KVER)/bftmutex.ko ] || { \
		echo "nothing is installed: the module for '$(KVER)' is not built; 'make module' first, or KVER=RELEASE" >&2; \
		exit 1; }
	$(INSTALL) -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR) \
		$(DESTDIR)$(PREFIX)/include/linux $(DESTDIR)$(MANDIR) \
		$(DESTDIR)$(UNITDIR) $(DESTDIR)$(UDEVDIR)
	$(INSTALL) -d -m 0755 $(DESTDIR)$(CONFDIR)
	$(INSTALL) -d -m 0700 $(DESTDIR)$(CONFDIR)/keys
	$(INSTALL) -m 0755 $(BIN)/bftmutexd $(BIN)/bftmutexctl $(DESTDIR)$(SBINDIR)
	$(INSTALL) -m 0755 $(BIN)/bftmutex $(BIN)/bftmutex-trace $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 0644 $(BIN)/libbftmutex.a $(BIN)/libbftmutex.so.0 $(DESTDIR)$(LIBDIR)
	ln -sf libbftmutex.so.0 $(DESTDIR)$(LIBDIR)/libbftmutex.so
	$(INSTALL) -m 0644 $(LIBRARY:%=%.h) $(DESTDIR)$(PREFIX)/include
	$(INSTALL) -d $(DESTDIR)$(PKGCONFIGDIR)
	sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@LIBDIR@,$(LIBDIR),' -e 's,@VERSION@,$(VERSION),' \
		helper/lib/libbftmutex.pc.in >$(BUILD)/libbftmutex.pc
	$(INSTALL) -m 0644 $(BUILD)/libbftmutex.pc $(DESTDIR)$(PKGCONFIGDIR)
	$(INSTALL) -m 0644 uapi/linux/*.h $(DESTDIR)$(PREFIX)/include/linux
	for page in Documentation/man/*.[1-8]; do \
		$(INSTALL) -D -m 0644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit; \
	done
	for unit in helper/systemd/*.service; do \
		sed -e 's,=/usr/sbin/,=$(SBINDIR)/,' -e 's,=/usr/bin/,=$(BINDIR)/,' \
			-e 's,/usr/libexec/,$(LIBEXECDIR)/,' $$unit >$(BUILD)/unit && \
		$(INSTALL) -m 0644 $(BUILD)/unit $(DESTDIR)$(UNITDIR)/$${unit##*/} || exit; \
	done
	$(INSTALL) -m 0644 helper/systemd/60-bftmutex.rules $(DESTDIR)$(UDEVDIR)
	$(INSTALL) -D -m 0644 helper/systemd/bftmutex.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/bftmutex.conf
	$(INSTALL) -D -m 0644 helper/systemd/bftmutex.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/bftmutex.conf
	$(INSTALL) -D -m 0755 helper/systemd/bftmutex-guard $(DESTDIR)$(LIBEXECDIR)/bftmutex-guard
	$(INSTALL) -d $(DESTDIR)$(EXAMPLEDIR)
	$(INSTALL) -m 0644 helper/systemd/examples/* $(DESTDIR)$(EXAMPLEDIR)
	[ -n "$(DESTDIR)" ] || getent group bftmutex >/dev/null || \
		if command -v systemd-sysusers >/dev/null; then \
			systemd-sysusers $(PREFIX)/lib/sysusers.d/bftmutex.conf; \
		else groupadd --system bftmutex; fi
	test -e $(DESTDIR)$(CONFDIR)/bftmutex.conf || \
		$(INSTALL) -m 0644 helper/systemd/bftmutex.conf $(DESTDIR)$(CONFDIR)/bftmutex.conf
	@if [ -e $(BUILD)/$(KVER)/bftmutex.ko ]; then \
		$(INSTALL) -D -m 0644 $(BUILD)/$(KVER)/bftmutex.ko \
			$(DESTDIR)/lib/modules/$(KVER)/extra/bftmutex.ko && \
		{ [ -n "$(DESTDIR)" ] || depmod $(KVER); }; \
	else \
		echo "staged without a module: that for '$(KVER)' is not built"; \
	fi

# Keys, configuration and the group stay.
uninstall:
	rm -f $(DESTDIR)$(SBINDIR)/bftmutexd $(DESTDIR)$(SBINDIR)/bftmutexctl \
		$(DESTDIR)$(BINDIR)/bftmutex $(DESTDIR)$(BINDIR)/bftmutex-trace $(DESTDIR)$(LIBDIR)/libbftmutex.a \
		$(DESTDIR)$(LIBDIR)/libbftmutex.so $(DESTDIR)$(LIBDIR)/libbftmutex.so.0 \
		$(patsubst helper/lib/%,$(DESTDIR)$(PREFIX)/include/%.h,$(LIBRARY)) \
		$(DESTDIR)$(PKGCONFIGDIR)/libbftmutex.pc \
		$(DESTDIR)$(PREFIX)/include/linux/bftmutex.h \
		$(DESTDIR)$(PREFIX)/include/linux/bftmutex_netlink.h \
		$(DESTDIR)$(UDEVDIR)/60-bftmutex.rules \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d/bftmutex.conf \
		$(DESTDIR)$(PREFIX)/lib/tmpfiles.d/bftmutex.conf \
		$(DESTDIR)$(LIBEXECDIR)/bftmutex-guard \
		$(patsubst helper/systemd/examples/%,$(DESTDIR)$(EXAMPLEDIR)/%,$(wildcard helper/systemd/examples/*)) \
		$(DESTDIR)/lib/modules/$(KVER)/extra/bftmutex.ko
	for page in Documentation/man/*.[1-8]; do \
		rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; \
	done
	for unit in helper/systemd/*.service; do \
		rm -f $(DESTDIR)$(UNITDIR)/$${unit##*/}; \
	done
