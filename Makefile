# SPDX-License-Identifier: GPL-2.0
# For people; the objects of the module are in Kbuild.
#
#	make            the module for the running kernel, and the tools
#	make demo       a cluster with a liar in a VM, in about two minutes
#	make check      every kind of test, in about 18 minutes
#	make check-all  all tests on all kernels, and the campaigns: a day; it goes on where it was left
#	make install    DESTDIR= PREFIX=/usr (see README)
#	make help       everything else

VERSION := 0.1.0
PREFIX ?= /usr
SBINDIR ?= $(PREFIX)/sbin
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= /lib/systemd/system
UDEVDIR ?= /lib/udev/rules.d
CONFDIR ?= /etc/bftmutex

# Headers for which the module is built by default, and those of the tests.
KVER ?= $(shell uname -r)
TEST_KERNELS := 6.1 6.12
header_release = $(patsubst /usr/src/linux-headers-%,%,$(lastword $(sort \
	$(filter-out %-rt-amd64,$(wildcard /usr/src/linux-headers-$(1).*-amd64)))))

BUILD := build
BIN := $(BUILD)/bin

.PHONY: all compiler libraries module stall no-release tools demo check deps install uninstall clean help

all: module tools

help:
	@sed -n 's/^#\t//p' Makefile
	@echo 'make deps       install the Debian packages that building and testing need'
	@echo 'make tools      the programs, in $(BIN)'
	@echo 'make module     the module for KVER=$(KVER), in $(BUILD)/KVER'
	@echo 'make tests      programs of the tests, which selftests/check wants; make fuzzers: of fuzz'
	@echo 'make unit       unit tests alone, under ASan and UBSan'
	@echo 'make static     checkpatch, sparse, W=1, shellcheck, man pages'
	@echo 'make vm         tests in VMs alone'
	@echo 'make drift      the module on the newest kernel of Debian, as root: half a gigabyte in the cache'
	@echo 'make check-capture  the tests of the module with a capture of all packets'
	@echo 'make debug-kernel  kernels with KASAN and lockdep, or KCSAN, or KERNEL=6.12-debug alone'
	@echo 'make sim-long   ten million simulated scenarios'
	@echo 'make mutants    bugs planted and found, all or NAME=; make sim-mutants: by the simulator alone'
	@echo 'make prove      what kmod/core promises, proved; prove-mutants: bugs for which that fails'
	@echo 'make model      every interleaving of small clusters: a quarter of an hour'
	@echo 'make order-torture  ordered objects under loss, lies and kills: 45 minutes'
	@echo 'make races      what ends while traffic arrives, ITERATIONS=10000 of each: hours'
	@echo 'make floods     DATAGRAMS=10000000 that nobody may notice, and what they cost'
	@echo 'make torture    locks under faults of all kinds, SECONDS=120 of them, from SEED='
	@echo 'make reloads    RELOADS=10000 restarts of a server: nothing granted in its quarantine'
	@echo 'make figures    Documentation/figures, from the simulator'
	@echo 'make bench      the table of performance goals, in VMs: five minutes'
	@echo 'make fuzz       fuzz each parser and core for SECONDS=600; fuzz-fast without sanitizers'
	@echo 'make fuzz-campaign  each without sanitizers until RUNS=1000000000 are done'
	@echo 'make fuzz-kernel  fuzz the module in a VM for SECONDS=600, on KERNEL=6.12-debug'
	@echo 'make coverage   what fuzzers and unit tests reach of the parsers; coverage-kernel: of the module'
	@echo 'make failures   each allocation of the programs failing; fail-nth: of the module, in a VM'
	@echo 'make fresh      what README says, in minimal Debian roots; ONLY=demo, install, user, bench or check'
	@echo 'make uninstall, make clean'

deps:
	@selftests/deps

# A compiler or library that is missing is named with its package before the build begins.
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

module: $(if $(KVER),$(BUILD)/$(KVER)/bftmutex.ko,no-release)

no-release:
	@echo "KVER='': must be the release of a kernel, such as $$(uname -r)" >&2; exit 1

KDIR ?= /lib/modules/$*/build
KMOD_SOURCES := $(wildcard kmod/*.[ch] kmod/*/*.[ch] uapi/linux/*.h) Kbuild

# What was built for another kernel of that release is not for this one.
$(BUILD)/%/kernel: FORCE | compiler
	@test -d $(KDIR) || { \
		echo 'no kernel headers for $*: apt-get install linux-headers-$*' >&2; \
		exit 1; }
	@config=$$(cksum <$(KDIR)/include/config/auto.conf) || exit; \
	[ "$$config" = "$$(cat $@ 2>/dev/null)" ] || \
		{ rm -rf $(@D) && mkdir -p $(@D) && echo "$$config" >$@; }
.PRECIOUS: $(BUILD)/%/kernel
FORCE:

# With KEEP_WORDS the folder keeps what was said; each file that is compiled is named, make -s or not.
$(BUILD)/%/bftmutex.ko: $(BUILD)/%/kernel $(KMOD_SOURCES)
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/uapi $(@D)
	$(MAKE) -C $(KDIR) M=$(abspath $(@D)) $(KBUILD_FLAGS) $(if $(KEEP_WORDS),quiet=quiet_) modules \
		$(if $(KEEP_WORDS),>$(@D)/words 2>&1 || { cat $(@D)/words >&2; exit 1; })
	@touch $@

# For tests: a processor that stands still.
stall: $(BUILD)/$(KVER)/stall/stall.ko

STALL_SOURCES := selftests/module/stall/stall.c selftests/module/stall/Kbuild
$(BUILD)/%/stall/stall.ko: $(BUILD)/%/kernel $(STALL_SOURCES)
	@mkdir -p $(@D)
	@cp -sf $(STALL_SOURCES:%=$(CURDIR)/%) $(@D)
	$(MAKE) -C $(KDIR) M=$(abspath $(@D)) modules
	@touch $@

# The tools

CFLAGS ?= -O2 -g
PKGS := libnl-genl-3.0 json-c libconfuse libcrypto libbsd libseccomp sqlite3
CPPFLAGS += -D_GNU_SOURCE -DBFTM_VERSION=\"$(VERSION)\" -Iuapi -iquote kmod -I.
# What makes mistakes in them harder to use; checked by selftests/static/hardening.
HARDEN := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE \
	$(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),-fcf-protection)
override LDFLAGS += -Wl,-z,relro,-z,now
CFLAGS_ALL := -std=gnu11 -Wall -Wextra -Wformat=2 -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes $(HARDEN) $(CFLAGS)
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS))
NL_LIBS = $(shell pkg-config --libs libnl-genl-3.0)
CONF_LIBS = $(shell pkg-config --libs libconfuse)
JSON_LIBS = $(shell pkg-config --libs json-c)
CRYPTO_LIBS = $(shell pkg-config --libs libcrypto)
SECCOMP_LIBS = $(shell pkg-config --libs libseccomp)
SQLITE_LIBS = $(shell pkg-config --libs sqlite3)

CORE := $(addprefix kmod/core/,wire quorum $(addprefix backoff/,client round wait hold fence release) \
	$(addprefix ordering/,wire state client choose vote transfer))
CORE_SERVER := $(addprefix kmod/core/,protocol serve admit access $(addprefix backoff/,protocol server queue) \
	$(addprefix ordering/,server pending))
OBJECT := $(addprefix helper/,object object_batch object_call object_list object_counter \
	object_log object_map object_queue object_register object_whole)
OBJECT_EXEC := $(addprefix helper/,object_exec object_exec_text)
CONF := $(addprefix helper/,conf conf_server conf_access conf_type syntax value duration) \
	$(OBJECT)
KEYS := $(addprefix helper/,keys mac rank rank_file log)
ORDER := $(basename $(wildcard helper/order*.c))
DAEMON := $(addprefix helper/,bftmutexd descriptors clock loop identity lend names cluster socket probe \
	recover behind acquire attempt report release evidence rounds contradiction upcall \
	status health json shown nl digest sandbox sandbox_calls) $(ORDER) $(OBJECT_EXEC)
JOURNAL := helper/journal helper/journal_object
CTL := $(basename $(wildcard helper/ctl*.c)) $(addprefix helper/,bftmutexctl descriptors nl \
	json libbftmutex shown) $(JOURNAL)
WRAPPER := $(addprefix helper/,bftmutex descriptors log cmdline run keeper family speech \
	shown sha256 libbftmutex duration)
# Ways to lie about order, and what they share, are files selftests/core/liar/order_*.c.
ORDER_LIES := $(basename $(wildcard selftests/core/liar/order_*.c))
LIAR := $(filter-out $(ORDER_LIES),$(basename $(wildcard selftests/core/liar/*.c)))

PROGRAMS := bftmutexd bftmutexctl bftmutex
LIBRARIES := libbftmutex.a libbftmutex.so.0

tools: $(addprefix $(BIN)/,$(PROGRAMS) $(LIBRARIES))

obj = $(patsubst %,$(BUILD)/obj/%.o,$(1))

$(BUILD)/obj/%.o: %.c | libraries
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BIN)/bftmutexd: $(call obj,$(DAEMON) $(CONF) $(KEYS) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -pie -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(JSON_LIBS) \
		$(CRYPTO_LIBS) $(SECCOMP_LIBS)

$(BIN)/bftmutexctl: $(call obj,$(CTL) $(CONF) $(KEYS) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -pie -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(JSON_LIBS) \
		$(CRYPTO_LIBS) $(SQLITE_LIBS)

$(BIN)/bftmutex: $(call obj,$(WRAPPER))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -pie -o $@ $^

$(BIN)/bftmutex-liar: $(call obj,$(LIAR) $(ORDER_LIES) helper/digest $(CONF) $(KEYS) $(CORE) $(CORE_SERVER))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(CONF_LIBS) $(CRYPTO_LIBS)

$(BIN)/libbftmutex.a: $(call obj,helper/libbftmutex)
	@mkdir -p $(@D)
	$(AR) rcs $@ $^

$(BIN)/libbftmutex.so.0: helper/libbftmutex.c helper/libbftmutex.h | compiler
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(LDFLAGS) -fPIC -shared -Wl,-soname,libbftmutex.so.0 -o $@ $<

# Tests

TESTS_BIN := $(BIN)/tests
SANITIZE := -U_FORTIFY_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=undefined -O1
UNIT := $(notdir $(basename $(wildcard selftests/core/unit/test_*.c)))
# Functions that several tests share are files beside a header of the same name, in an archive:
# each program is linked with those it calls.
SHARED_FOLDERS := selftests/lib selftests/measure/bench \
	$(addprefix selftests/module/,device netlink server objects)
SHARED := $(filter $(basename $(wildcard $(SHARED_FOLDERS:%=%/*.h))),\
	$(basename $(wildcard $(SHARED_FOLDERS:%=%/*.c))))
SHARED_A := $(BUILD)/obj/selftests/shared.a
KSELFTEST_SOURCES := $(filter-out selftests/module/cluster/contender.c selftests/module/daemon/handover.c \
	selftests/module/objects/order_load.c $(SHARED:%=%.c),$(wildcard $(addprefix selftests/module/,device/*.c netlink/*.c \
	server/*.c objects/*.c daemon/*.c cluster/*.c)))
KSELFTESTS := $(notdir $(basename $(KSELFTEST_SOURCES)))
vpath %.c $(sort $(dir $(KSELFTEST_SOURCES)))
TORTURE_TESTS := $(addprefix $(TESTS_BIN)/,torture_client reloads)
HARNESS := $(BUILD)/kselftest/kselftest_harness.h
LINUX_SOURCE ?= /usr/src/linux-source-6.12.tar.xz

tests: $(addprefix $(BIN)/bftmutex-,liar lin history floods races kfuzz kfuzz-seeds model order-model sim figures) \
	$(TORTURE_TESTS) $(addprefix $(TESTS_BIN)/,fail_nth contender order_load handover $(KSELFTESTS)) \
	$(addprefix $(TESTS_BIN)/unit/,$(UNIT))

# The kernel's own harness and checker come with its source.
$(HARNESS): $(LINUX_SOURCE)
	@mkdir -p $(@D)
	tar -xJf $< -C $(@D) --strip-components=1 --wildcards '*/scripts/checkpatch.pl' \
		'*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch' \
		'*/tools/testing/selftests/kselftest.h' \
		'*/tools/testing/selftests/kselftest_harness.h'
	mv $(@D)/tools/testing/selftests/*.h $(@D)
	@touch $@

$(SHARED_A): $(call obj,$(SHARED))
	rm -f $@
	$(AR) qcs $@ $^

# For "make bench" too, which has no use for the kernel's source.
$(TESTS_BIN)/contender: $(call obj,selftests/module/cluster/contender)
$(TESTS_BIN)/order_load: $(call obj,selftests/module/objects/order_load)
$(TESTS_BIN)/contender $(TESTS_BIN)/order_load: $(call obj,helper/libbftmutex) $(SHARED_A)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o,$^) $(SHARED_A)

$(TESTS_BIN)/handover: $(call obj,selftests/module/daemon/handover) $(SHARED_A)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

$(KSELFTESTS:%=$(TESTS_BIN)/%): $(TESTS_BIN)/%: %.c $(HARNESS) $(SHARED_A) \
		$(call obj,helper/libbftmutex helper/nl helper/digest $(KEYS) $(CONF) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -I$(BUILD)/kselftest $(PKG_CFLAGS) $(CFLAGS_ALL) $(LDFLAGS) \
		-MMD -MP -MF $(BUILD)/obj/test-$*.d -o $@ $< $(filter %.a %.o,$^) \
		$(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS)

# Checks histories of objects; main.c reads files of them.
LIN := $(filter-out selftests/core/lin/main,$(basename $(wildcard selftests/core/lin/*.c)))
$(BIN)/bftmutex-lin: $(call obj,$(LIN) selftests/core/lin/main helper/json)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(JSON_LIBS) $(CRYPTO_LIBS)

# Campaigns last; what they are given is looked at before anything is built for them.
# given,NAME,MIN,MAX,DEFAULT
quoted = '$(subst ','\'',$(1))'
given = selftests/lib/number $(1) $(call quoted,$(or $($(1)),$(4))) $(2) $(3)
given_seed = $(call given,SEED,0,1000000000,0)
vm_kernel = $(or $(KERNEL),6.1)
given_kernel = selftests/lib/kernel $(call quoted,$(vm_kernel))

# What ends while traffic arrives, over and over.
RACES := $(basename $(wildcard selftests/module/races/*.c))
$(BIN)/bftmutex-races: $(call obj,$(RACES) helper/nl helper/digest $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS)

# ITERATIONS of each scenario, 10000 unless set; see selftests/module/races/run.
races:
	@selftests/module/races/run --check
	@$(given_kernel)
	@$(MAKE) --no-print-directory tools tests modules-$(vm_kernel)
	@selftests/module/races/run

# Datagrams that nobody may notice.
FLOODS := $(basename $(wildcard selftests/module/floods/*.c))
$(BIN)/bftmutex-floods: $(call obj,$(FLOODS) helper/digest $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(CONF_LIBS) $(CRYPTO_LIBS)

floods:
	@selftests/module/floods/run --check
	@$(given_kernel)
	@$(MAKE) --no-print-directory tools tests modules-$(vm_kernel)
	@selftests/module/floods/run

# Locks under whatever may befall them; bftmutex-history checks what clients wrote down.
HISTORY := $(addprefix selftests/module/torture/,history stays counters)
$(BIN)/bftmutex-history: $(call obj,$(HISTORY) selftests/module/torture/main)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

$(TESTS_BIN)/torture_client: $(call obj,selftests/module/torture/torture_client helper/libbftmutex)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

$(TESTS_BIN)/reloads: $(call obj,selftests/module/torture/reloads helper/nl $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS)

TORTURE := tools $(BIN)/bftmutex-lin $(BIN)/bftmutex-liar $(BIN)/bftmutex-history \
	$(TORTURE_TESTS) modules-$(vm_kernel)

torture:
	@$(call given,SECONDS,1,3600,120)
	@$(given_seed)
	@$(given_kernel)
	@$(MAKE) --no-print-directory $(TORTURE)
	selftests/vm/run --kernel $(vm_kernel) --icount --mem 1024 --timeout 14400 -- env \
		BFTMUTEX_HOSTS=3 BFTMUTEX_SECONDS=$(or $(SECONDS),120) $(if $(SEED),BFTMUTEX_SEED=$(SEED)) \
		selftests/module/torture/torture.sh

# Ten thousand servers stopped and started, each while a lock is held there.
reloads:
	@$(call given,RELOADS,1,1000000,10000)
	@$(given_seed)
	@$(given_kernel)
	@$(MAKE) --no-print-directory $(TORTURE)
	selftests/vm/run --kernel $(vm_kernel) --icount --timeout 14400 -- env \
		BFTMUTEX_RELOADS=$(or $(RELOADS),10000) \
		$(if $(SEED),BFTMUTEX_SEED=$(SEED)) selftests/module/torture/reloads.sh

# Unit tests are linked with sanitized objects of what they test. They come from an archive:
# a test may have functions of its own in the place of one of them.
sobj = $(patsubst %,$(BUILD)/obj-sanitize/%.o,$(1))

$(BUILD)/obj-sanitize/%.o: %.c | libraries
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) $(SANITIZE) -MMD -MP -c -o $@ $<

# Functions that several unit tests share.
UNIT_SHARED := $(filter-out selftests/core/unit/fail selftests/core/unit/test_%,\
	$(basename $(wildcard selftests/core/unit/*.c)))
UNIT_OBJS := $(sort $(CORE) $(CORE_SERVER) $(CONF) $(KEYS) helper/behind helper/contradiction helper/digest \
	$(OBJECT_EXEC) helper/order_rank helper/order_room helper/order_work helper/identity helper/lend helper/names helper/clock helper/loop \
	helper/log helper/sandbox helper/sandbox_calls helper/upcall helper/status helper/run helper/keeper \
	helper/family helper/speech helper/sha256 $(LIN) $(HISTORY) \
	$(filter-out helper/bftmutexctl,$(CTL)) $(UNIT_SHARED))
$(BUILD)/obj-sanitize/all.a: $(call sobj,$(UNIT_OBJS))
	rm -f $@
	$(AR) qcs $@ $^

$(TESTS_BIN)/unit/%: $(BUILD)/obj-sanitize/selftests/core/unit/%.o $(BUILD)/obj-sanitize/all.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(SANITIZE) $(LDFLAGS) $(WRAP) -o $@ $^ $(UNIT_LIBS)

UNIT_LIBS = $(NL_LIBS) $(JSON_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS) $(SQLITE_LIBS) $(SECCOMP_LIBS) \
	$(shell pkg-config --libs cmocka)

# Tests in which calls fail that selftests/core/unit/fail.c knows, and tests of what talks to the
# kernel, told anything by the fuzzers' one.
FAIL_TESTS := $(patsubst selftests/core/unit/%.c,%,$(wildcard selftests/core/unit/test_fail_*.c))
FAIL_CALLS := asprintf $(shell sed -En 's/^WRAP.[^,]*, (\w+),.*/\1/p' selftests/core/unit/fail.c)
KERNEL_TESTS := test_fail_netlink test_fail_ctl
define UNIT_PARTS
$(FAIL_TESTS:%=$(TESTS_BIN)/$(1)/%): WRAP := $(FAIL_CALLS:%=-Wl,--wrap=%)
$(FAIL_TESTS:%=$(TESTS_BIN)/$(1)/%): $(BUILD)/$(2)/selftests/core/unit/fail.o
$(KERNEL_TESTS:%=$(TESTS_BIN)/$(1)/%): $(BUILD)/$(2)/selftests/core/fuzz/kernel.o
endef
$(eval $(call UNIT_PARTS,unit,obj-sanitize))
$(eval $(call UNIT_PARTS,coverage,obj-fuzz-coverage))

# Whole clusters in virtual time, with the strategies of the liar.
SIM := $(basename $(wildcard selftests/core/sim/*.c)) $(filter-out \
	$(addprefix selftests/core/liar/,liar liar_order node node_order node_bodies socket cmdline),\
	$(LIAR)) $(ORDER_LIES)
SIM_OBJS := $(sort $(CORE) $(CORE_SERVER) $(OBJECT) kmod/core/ordering/transfer)
$(BIN)/bftmutex-sim: $(call obj,$(SIM) $(SIM_OBJS))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

# Figures of it, but for the applications.
FIGURES := $(basename $(wildcard selftests/measure/figures/*.c)) $(filter-out \
	$(addprefix selftests/core/sim/,app main cmdline batch failure golden stats),$(SIM))
$(BIN)/bftmutex-figures: $(call obj,$(FIGURES) $(SIM_OBJS))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

figures: $(BIN)/bftmutex-figures
	@selftests/measure/figures/run

# Bugs planted one by one, and found: NAME=, or all, from SEED, JOBS at a time; by the simulator
# alone, or by all that must find them.
sim-mutants mutants:
	@$(call given,SEED,0,1000000000,1)
	@$(call given,JOBS,1,1024,1)
	@selftests/core/mutants/run $(if $(filter sim-%,$@),--killer sim) --seed $(or $(SEED),1) \
		--jobs $(or $(JOBS),1) $(if $(NAME),$(call quoted,$(NAME)))

# What programs with a bug in them are made of, for that.
mutant-parts:
	@echo 'mutant-sim: $(call obj,$(SIM) $(SIM_OBJS))'
	@echo 'mutant-model-lock: $(call obj,$(MODEL) $(CORE) $(CORE_SERVER))'
	@echo 'mutant-model-order: $(call obj,$(ORDER_MODEL) $(CORE) $(CORE_SERVER))'
	@echo 'mutant-unit: $(call sobj,$(UNIT_OBJS))'
	@echo 'mutant-compiler: $(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL)'
	@echo 'mutant-linker: $(CC) $(CFLAGS_ALL) $(LDFLAGS)'
	@echo 'mutant-sanitized-compiler: $(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) $(SANITIZE)'
	@echo 'mutant-sanitized-linker: $(CC) $(CFLAGS_ALL) $(SANITIZE) $(LDFLAGS)'
	@echo 'mutant-unit-libs: $(UNIT_LIBS)'

# Ten million scenarios take about seventy minutes of a core.
sim-long:
	@$(call given,RUNS,1,1000000000000,10000000)
	@$(call given,SEED,1,1000000000,1)
	@$(call given,JOBS,1,1024,2)
	@$(MAKE) --no-print-directory $(BIN)/bftmutex-sim
	$(BIN)/bftmutex-sim --runs $(or $(RUNS),10000000) --jobs $(or $(JOBS),2) --seed $(or $(SEED),1)

# Ten thousand requests of each type of object, under loss and with programs killed.
order-torture:
	@$(given_seed)
	@$(given_kernel)
	@$(MAKE) --no-print-directory tools $(BIN)/bftmutex-lin $(BIN)/bftmutex-liar \
		$(TESTS_BIN)/order_load modules-$(vm_kernel)
	selftests/vm/run --kernel $(vm_kernel) --icount --mem 1024 --timeout 14400 -- env BFTMUTEX_OPS=10000 \
		BFTMUTEX_HOSTS=8 $(if $(SEED),BFTMUTEX_SEED=$(SEED)) \
		selftests/module/objects/order_torture.sh

# Every interleaving of small clusters.
MODEL := $(basename $(wildcard selftests/core/model/lock/*.c))
$(BIN)/bftmutex-model: $(call obj,$(MODEL) $(CORE) $(CORE_SERVER))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

# Every sequence of iterations of the ordering protocol.
ORDER_MODEL := $(basename $(wildcard selftests/core/model/order/*.c))
$(BIN)/bftmutex-order-model: $(call obj,$(ORDER_MODEL) $(CORE) $(CORE_SERVER))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

model: $(BIN)/bftmutex-model $(BIN)/bftmutex-order-model
	@selftests/core/model/lock/run
	@selftests/core/model/order/run

# Times against goals, in a VM whose clock counts instructions.
BENCH := $(addprefix $(BIN)/bench/,$(notdir $(filter-out $(SHARED),\
	$(basename $(wildcard selftests/measure/bench/*.c)))))
$(BIN)/bench/%: selftests/measure/bench/%.c $(SHARED_A) $(call obj,$(KEYS) $(CONF) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(LDFLAGS) -MMD -MP -MF $(BUILD)/obj/bench-$*.d \
		-o $@ $< $(filter %.a %.o,$^) $(CONF_LIBS) $(CRYPTO_LIBS) $(BENCH_LIBS)
$(BIN)/bench/etcd_lock: BENCH_LIBS = $(shell pkg-config --libs libnghttp2)

bench:
	@selftests/deps --for bench
	@$(MAKE) --no-print-directory tools $(BIN)/bftmutex-liar $(TESTS_BIN)/handover \
		$(TESTS_BIN)/order_load bench-programs modules-6.1
	@selftests/measure/bench/run

bench-programs: $(BENCH)

# Fuzzers, by clang's libFuzzer on the same files: with sanitizers in tests/fuzz, for their
# number in tests/fuzz-fast, and to see what they reach in tests/fuzz-coverage. The files
# come from an archive, so that the fuzzer looks at no more of them than a target calls; what
# stands for the kernel and for files from another, before it.
FUZZERS := $(patsubst selftests/core/fuzz/fuzz_%.c,%,$(wildcard selftests/core/fuzz/fuzz_*.c))
FUZZ_OBJS := $(sort $(filter-out helper/bftmutexctl helper/bftmutexd,$(CORE) $(CORE_SERVER) \
	$(CONF) $(KEYS) $(DAEMON) $(CTL) $(WRAPPER)))
FUZZ_FAKES := $(addprefix selftests/core/fuzz/,file kernel)
FUZZ_CFLAGS := -std=gnu11 -g -Wall -Wextra -Wno-c2x-extensions -Wno-missing-field-initializers
FUZZ_CFLAGS_fuzz := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_CFLAGS_fuzz-fast := -O2
FUZZ_CFLAGS_fuzz-coverage := -O1 -fprofile-instr-generate -fcoverage-mapping

fuzzers: $(addprefix $(TESTS_BIN)/fuzz/,$(FUZZERS))

define FUZZ_RULES
$(BUILD)/obj-$(1)/%.o: %.c
	@mkdir -p $$(@D)
	clang $(FUZZ_CFLAGS) $(CPPFLAGS) $$(PKG_CFLAGS) $$(FUZZ_CFLAGS_$(1)) \
		-fsanitize=fuzzer-no-link -MMD -MP -c -o $$@ $$<

$(BUILD)/obj-$(1)/all.a: $(patsubst %,$(BUILD)/obj-$(1)/%.o,$(FUZZ_OBJS))
$(BUILD)/obj-$(1)/fakes.a: $(patsubst %,$(BUILD)/obj-$(1)/%.o,$(FUZZ_FAKES))
$(BUILD)/obj-$(1)/all.a $(BUILD)/obj-$(1)/fakes.a:
	rm -f $$@
	$(AR) qcs $$@ $$^

$(TESTS_BIN)/$(1)/%: $(BUILD)/obj-$(1)/selftests/core/fuzz/fuzz_%.o $(BUILD)/obj-$(1)/fakes.a \
		$(BUILD)/obj-$(1)/all.a
	@mkdir -p $$(@D)
	clang $$(FUZZ_CFLAGS_$(1)) -fsanitize=fuzzer -o $$@ $$^ $$(NL_LIBS) $$(CONF_LIBS) \
		$$(JSON_LIBS) $$(CRYPTO_LIBS) $$(SQLITE_LIBS)

.PRECIOUS: $(BUILD)/obj-$(1)/%.o
endef
$(foreach variant,fuzz fuzz-fast fuzz-coverage,$(eval $(call FUZZ_RULES,$(variant))))

FUZZERS_FAST := $(addprefix $(TESTS_BIN)/fuzz-fast/,$(FUZZERS))

# The same targets without libFuzzer: each input of the packs once.
REPLAYS := $(addprefix $(TESTS_BIN)/replay/,$(FUZZERS))
replays: $(REPLAYS)

$(BUILD)/obj-sanitize/fuzz.a: $(call sobj,$(FUZZ_OBJS))
	rm -f $@
	$(AR) qcs $@ $^

$(TESTS_BIN)/replay/%: $(BUILD)/obj-sanitize/selftests/core/fuzz/fuzz_%.o \
		$(call sobj,selftests/core/fuzz/replay $(FUZZ_FAKES)) $(BUILD)/obj-sanitize/fuzz.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(UNIT_LIBS)

fuzz:
	@$(call given,SECONDS,1,999999,600)
	@$(call given,SEED,1,4294967295,1)
	@$(MAKE) --no-print-directory fuzzers
	@selftests/core/fuzz/run --seconds $(or $(SECONDS),600)

fuzz-fast:
	@$(call given,SECONDS,1,999999,600)
	@$(call given,SEED,1,4294967295,1)
	@$(MAKE) --no-print-directory $(FUZZERS_FAST)
	@selftests/core/fuzz/run --fast --seconds $(or $(SECONDS),600)

# Until there were so many executions.
fuzz-campaign:
	@$(if $(SECONDS),printf "SECONDS='%s': a campaign ends after RUNS= and not by time\n" \
		$(call quoted,$(SECONDS)) >&2; exit 64)
	@$(call given,RUNS,1,1000000000000,1000000000)
	@$(call given,SEED,1,4294967295,1)
	@$(MAKE) --no-print-directory $(FUZZERS_FAST)
	@selftests/core/fuzz/campaign $(or $(RUNS),1000000000)

# The module itself, in a VM; guided when the kernel has KCOV.
KFUZZ := $(addprefix selftests/module/kfuzz/,main device netlink attribute datagram liar value cover) \
	helper/nl helper/digest $(KEYS) $(CONF) $(CORE)
$(BIN)/bftmutex-kfuzz: $(call obj,$(KFUZZ))
	@mkdir -p $(@D)
	clang -fsanitize=fuzzer -pie -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS)

$(BIN)/bftmutex-kfuzz-seeds: $(call obj,selftests/module/kfuzz/seeds)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^

fuzz-kernel: vm_kernel = $(or $(KERNEL),6.12-debug)
fuzz-kernel:
	@BFTMUTEX_SECONDS=$(call quoted,$(SECONDS)) selftests/module/kfuzz/run --check
	@$(given_kernel)
	@$(MAKE) --no-print-directory $(BIN)/bftmutex-kfuzz $(BIN)/bftmutex-kfuzz-seeds modules-$(vm_kernel)
	@BFTMUTEX_SECONDS=$(call quoted,$(SECONDS)) selftests/module/kfuzz/run

.PHONY: drift tests unit static vm fuzz fuzz-fast fuzzers replays model mutants sim-mutants mutant-parts sim-long figures \
	bench bench-programs order-torture torture reloads races floods debug-kernel \
	check-all check-capture fuzz-kernel coverage coverage-kernel fail-nth failures fuzz-campaign

# What the fuzzers' inputs and the unit tests reach of the parsers. The unit tests are
# those of the sanitized build, by clang.
COVERAGE_UNIT := $(FAIL_TESTS) $(patsubst %,test_%,wire order_wire transfer conf conf_access \
	conf_server conf_type keys key_files rank duration journal journal_broken object object_types \
	object_exec order_ops order_state)
$(BUILD)/obj-fuzz-coverage/shared.a: $(UNIT_SHARED:%=$(BUILD)/obj-fuzz-coverage/%.o)
	rm -f $@
	$(AR) qcs $@ $^

$(TESTS_BIN)/coverage/%: $(BUILD)/obj-fuzz-coverage/selftests/core/unit/%.o \
		$(BUILD)/obj-fuzz-coverage/shared.a $(BUILD)/obj-fuzz-coverage/all.a
	@mkdir -p $(@D)
	clang $(FUZZ_CFLAGS_fuzz-coverage) -fsanitize=fuzzer-no-link $(WRAP) -o $@ $^ $(UNIT_LIBS)

coverage: $(addprefix $(TESTS_BIN)/fuzz-coverage/,$(FUZZERS)) \
		$(addprefix $(TESTS_BIN)/coverage/,$(COVERAGE_UNIT))
	@selftests/measure/coverage/user

# What the tests in VMs reach of the module, by a kernel with checkers: hours.
coverage-kernel: tools tests
	@folder=$$(MAKEFLAGS= selftests/vm/build-kernel 6.12-debug) && \
	$(MAKE) --no-print-directory module BUILD=$(BUILD)/gcov KDIR=$$folder/build \
		KVER=$$(cd $$folder/lib/modules && echo *) KBUILD_FLAGS=GCOV_PROFILE=y
	@selftests/measure/coverage/kernel

# Every call of the module with each of its allocations failing, and some under traffic.
FAIL_NTH := $(addprefix selftests/module/failures/,fail_nth nth_module nth_server nth_change nth_client)
$(TESTS_BIN)/fail_nth: $(call obj,$(FAIL_NTH) helper/nl helper/digest $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS)

fail-nth: tools tests modules-6.12-debug
	@set -- --kernel 6.12-debug --icount --mem 1536 --timeout 3000; \
	selftests/vm/run "$$@" --allow 'kobject_add_internal failed for .*error: -12' -- \
		selftests/module/failures/nth.sh && \
	selftests/vm/run "$$@" --allow 'kmemleak: Cannot allocate' -- selftests/module/failures/traffic.sh

# The programs, likewise; then the daemon at work, in a VM.
failures: tools tests $(TESTS_BIN)/fail_alloc.so modules-6.1
	@selftests/module/failures/run
	@selftests/vm/run --mem 1024 --timeout 3000 --allow 'audit: type=1326|kauditd_printk_skb' -- \
		selftests/module/failures/daemon.sh

$(TESTS_BIN)/fail_alloc.so: selftests/module/failures/fail_alloc.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -fPIC -shared -o $@ $< -ldl

.PRECIOUS: $(BUILD)/obj/%.o $(BUILD)/obj-sanitize/%.o

modules-%:
	@$(if $(call header_release,$*),,echo 'no headers of Linux $*; selftests/deps installs them' >&2; exit 1)
	$(MAKE) module stall KVER=$(call header_release,$*) $(WORDS)

# The one whose warnings, and sparse's, static/kernel looks at.
modules-6.12: WORDS = KBUILD_FLAGS='W=1 C=1' KEEP_WORDS=1

# Kernels with checkers, built once: KASAN and lockdep, or KCSAN.
MODULES_CHECKED := $(foreach v,6.1 6.12,modules-$(v)-debug modules-$(v)-kcsan)
$(MODULES_CHECKED): modules-%:
	@folder=$$(MAKEFLAGS= selftests/vm/build-kernel $*) && \
	$(MAKE) module stall KDIR=$$folder/build KVER=$$(cd $$folder/lib/modules && echo *)

# KERNEL=6.12-debug: that one; else all four.
debug-kernel: $(if $(KERNEL),modules-$(KERNEL),$(MODULES_CHECKED))

# Debian's newest kernel, where what it changed shows first.
drift:
	@selftests/deps --for fresh
	@$(MAKE) --no-print-directory tools
	@selftests/vm/drift

# With a capture of all packets.
check-capture: tools tests modules-6.1
	@BFTMUTEX_CAPTURE=1 selftests/check --kernel 6.1 module

# What selftests/check wants. A kernel with checkers takes a quarter of an hour to build: its
# module is made where that was done.
CHECK_KERNELS = $(addprefix modules-,$(TEST_KERNELS)) \
	$(if $(shell selftests/vm/build-kernel --if-built 6.12-debug 2>/dev/null),modules-6.12-debug)
CHECK_BUILD = tools tests replays $(CHECK_KERNELS)
CHECK_ALL_BUILD = $(CHECK_BUILD) fuzzers $(FUZZERS_FAST) $(MODULES_CHECKED) $(TESTS_BIN)/fail_alloc.so

# For who wants to see something else; V=1 shows the commands.
QUIETLY = @$(if $(V),,echo "building; make V=1 $@ shows how" &&) \
	$(MAKE) --no-print-directory $(if $(V),,--silent)

check:
	@selftests/deps --for check
	$(QUIETLY) -j$$(nproc) $(CHECK_BUILD)
	@selftests/check

check-all:
	@$(call given,SCALE,1,1000000,1)
	@$(call given,JOBS,1,1024,2)
	@selftests/deps --for check
	$(QUIETLY) -j$$(nproc) $(CHECK_ALL_BUILD)
	@selftests/check --all

unit: tests
	@selftests/check core/unit

static vm:
	$(QUIETLY) -j$$(nproc) $(CHECK_BUILD)
	@selftests/check $(if $(filter vm,$@),module,static)

demo:
	@selftests/deps --for demo
	$(QUIETLY) -j$$(nproc) tools $(BIN)/bftmutex-liar $(TESTS_BIN)/contender modules-6.1
	@selftests/measure/demo/demo

# These commands and those below on machines that never saw the project; ONLY=NAME: one.
.PHONY: fresh
fresh:
	@selftests/deps --for fresh
	@selftests/fresh $(ONLY)

# Installing

INSTALL ?= install

# On a host without the module nothing would work; what is staged below DESTDIR may be without.
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
	$(INSTALL) -m 0755 $(BIN)/bftmutex $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 0644 $(BIN)/libbftmutex.a $(BIN)/libbftmutex.so.0 $(DESTDIR)$(LIBDIR)
	ln -sf libbftmutex.so.0 $(DESTDIR)$(LIBDIR)/libbftmutex.so
	$(INSTALL) -m 0644 helper/libbftmutex.h $(DESTDIR)$(PREFIX)/include
	$(INSTALL) -d $(DESTDIR)$(PKGCONFIGDIR)
	sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@LIBDIR@,$(LIBDIR),' -e 's,@VERSION@,$(VERSION),' \
		helper/libbftmutex.pc.in >$(BUILD)/libbftmutex.pc
	$(INSTALL) -m 0644 $(BUILD)/libbftmutex.pc $(DESTDIR)$(PKGCONFIGDIR)
	$(INSTALL) -m 0644 uapi/linux/*.h $(DESTDIR)$(PREFIX)/include/linux
	for page in Documentation/man/*.[1-8]; do \
		$(INSTALL) -D -m 0644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit; \
	done
	for unit in helper/systemd/*.service; do \
		sed 's,=/usr/sbin/,=$(SBINDIR)/,' $$unit >$(BUILD)/unit && \
		$(INSTALL) -m 0644 $(BUILD)/unit $(DESTDIR)$(UNITDIR)/$${unit##*/} || exit; \
	done
	$(INSTALL) -m 0644 helper/systemd/60-bftmutex.rules $(DESTDIR)$(UDEVDIR)
	$(INSTALL) -D -m 0644 helper/systemd/bftmutex.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/bftmutex.conf
	[ -n "$(DESTDIR)" ] || ! command -v systemd-sysusers >/dev/null || \
		systemd-sysusers $(PREFIX)/lib/sysusers.d/bftmutex.conf
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
		$(DESTDIR)$(BINDIR)/bftmutex $(DESTDIR)$(LIBDIR)/libbftmutex.a \
		$(DESTDIR)$(LIBDIR)/libbftmutex.so $(DESTDIR)$(LIBDIR)/libbftmutex.so.0 \
		$(DESTDIR)$(PREFIX)/include/libbftmutex.h \
		$(DESTDIR)$(PKGCONFIGDIR)/libbftmutex.pc \
		$(DESTDIR)$(PREFIX)/include/linux/bftmutex.h \
		$(DESTDIR)$(PREFIX)/include/linux/bftmutex_netlink.h \
		$(DESTDIR)$(UDEVDIR)/60-bftmutex.rules \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d/bftmutex.conf \
		$(DESTDIR)/lib/modules/$(KVER)/extra/bftmutex.ko
	for page in Documentation/man/*.[1-8]; do \
		rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; \
	done
	for unit in helper/systemd/*.service; do \
		rm -f $(DESTDIR)$(UNITDIR)/$${unit##*/}; \
	done

-include $(shell find $(wildcard $(BUILD)/obj*) -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD)

include selftests/core/proof/build.mk
