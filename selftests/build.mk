# SPDX-License-Identifier: GPL-2.0
# How the tests are built. Each folder has the rules of its own programs.
#
#	make tests      programs of the tests, which selftests/check wants; make fuzzers: of fuzz
#	make unit       unit tests alone, under ASan and UBSan
#	make static     checkpatch, sparse, W=1, shellcheck, man pages
#	make vm         tests in VMs alone
#	make drift      the module on the newest kernels of Debian, as root: a gigabyte in the cache
#	make check-arch  on arm64 and s390x, and a cluster with both, as root: 1.2 GB in the cache
#	make check-capture  the tests of the module with a capture of all packets
#	make debug-kernel  kernels with KASAN and lockdep, or KCSAN, or KERNEL=6.12-debug alone
#	make fresh      what README says, in minimal Debian roots; ONLY=demo, install, packages, user, bench or check

.PHONY: tests tests-arch check check-all check-arch check-capture unit static vm fresh drift debug-kernel stall

TESTS_BIN := $(BIN)/tests
# Not optimised: it takes longer to compile these files than to run them.
SANITIZE := -U_FORTIFY_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=undefined -O0

# Functions that several tests share are files beside a header of the same name, in an archive:
# each program is linked with those it calls.
SHARED_FOLDERS := selftests/lib selftests/measure/bench \
	$(addprefix selftests/module/,device netlink server objects)
SHARED := $(filter $(basename $(wildcard $(SHARED_FOLDERS:%=%/*.h))),\
	$(basename $(wildcard $(SHARED_FOLDERS:%=%/*.c))))
SHARED_A := $(BUILD)/obj/selftests/shared.a

$(SHARED_A): $(call obj,$(SHARED))
	rm -f $@
	$(AR) qcs $@ $^

HARNESS := $(BUILD)/kselftest/kselftest_harness.h
LINUX_SOURCE ?= /usr/src/linux-source-6.12.tar.xz

# The kernel's own harness and checker come with its source.
$(HARNESS): $(LINUX_SOURCE)
	@mkdir -p $(@D)
	tar -xJf $< -C $(@D) --strip-components=1 --wildcards '*/scripts/checkpatch.pl' \
		'*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch' \
		'*/tools/testing/selftests/kselftest.h' \
		'*/tools/testing/selftests/kselftest_harness.h'
	mv $(@D)/tools/testing/selftests/*.h $(@D)
	@touch $@

# Variables of campaigns are checked before anything is built for them.
# given,NAME,MIN,MAX,DEFAULT
quoted = '$(subst ','\'',$(1))'
given = selftests/lib/number $(1) $(call quoted,$(or $($(1)),$(4))) $(2) $(3)
given_seed = $(call given,SEED,0,1000000000,0)
vm_kernel = $(or $(KERNEL),6.1)
given_kernel = selftests/lib/kernel $(call quoted,$(vm_kernel))

include selftests/module/build.mk
include selftests/core/build.mk
include selftests/measure/build.mk

# Programs for other machines: all that Debian's cross compilers make.
tests-arch: $(addprefix $(BIN)/bftmutex-,liar lin) \
	$(addprefix $(TESTS_BIN)/,netns_exec contender order_load $(KSELFTESTS)) $(addprefix $(TESTS_BIN)/unit/,$(UNIT))

tests: tests-arch $(addprefix $(BIN)/bftmutex-,history floods races kfuzz kfuzz-seeds model order-model token-model peers crowd sim figures) \
	$(TORTURE_TESTS) $(EXAMPLES) $(addprefix $(TESTS_BIN)/,fail_nth handover waiters wire_judge dlm_story) \
	$(addprefix $(BIN)/quick/,bftmutexd bftmutexctl)

# For tests: a processor that stands still, and a clock that does not leap.
stall: $(BUILD)/$(KVER)/stall/stall.ko

STALL_SOURCES := $(addprefix selftests/module/stall/,stall.c steady.c Kbuild)
$(BUILD)/%/stall/stall.ko: $(BUILD)/%/kernel $(STALL_SOURCES)
	@mkdir -p $(@D)
	@cp -sf $(STALL_SOURCES:%=$(CURDIR)/%) $(@D)
	$(MAKE) -C $(KDIR) M=$(abspath $(@D)) modules
	@touch $@

# Without -g0 debug information is nine tenths of the module, which each VM reads at each start; types
# for BPF come of it, so they go with it.
#
# Kbuild calls nm two or three times for each object. Where clang is installed, nm loads LLVM first, for
# ten times as long as its work takes; it does not when it knows the format.
FAST_NM := NM='nm --target=elf64-x86-64'

modules-%:
	@$(if $(call header_release,$*),,echo 'no headers of Linux $*; selftests/deps installs them' >&2; exit 1)
	$(MAKE) module stall KVER=$(call header_release,$*) KCFLAGS=-g0 CONFIG_DEBUG_INFO_BTF_MODULES= \
		$(FAST_NM) $(WORDS)

# static/kernel checks the warnings of this build, and those of sparse; static/rules has those of kernel-doc.
modules-6.12: WORDS = KBUILD_FLAGS='W=1 C=1 cmd_checkdoc=' KEEP_WORDS=1

# Kernels with checkers, built once: KASAN and lockdep, or KCSAN.
MODULES_CHECKED := $(foreach v,6.1 6.12,modules-$(v)-debug modules-$(v)-kcsan)
$(MODULES_CHECKED): modules-%:
	@folder=$$(MAKEFLAGS= selftests/vm/build-kernel $*) && \
	$(MAKE) module stall KDIR=$$folder/build KVER=$$(cd $$folder/lib/modules && echo *) $(FAST_NM)

# KERNEL=6.12-debug: that one; else all four.
debug-kernel: $(if $(KERNEL),modules-$(KERNEL),$(MODULES_CHECKED))

# Debian's newest kernels, where what they changed shows first.
drift:
	@selftests/deps --for check
	@selftests/deps --for fresh
	$(QUIETLY) tools tests
	@selftests/vm/drift

# On other machines, one of which stores the high byte first.
check-arch:
	@selftests/deps --for arch
	$(QUIETLY) tools $(TESTS_BIN)/netns_exec modules-6.1
	@selftests/check arch

# With a capture of all packets.
check-capture: tools tests modules-6.1
	@BFTMUTEX_CAPTURE=1 selftests/check --kernel 6.1 module

# Modules that selftests/check needs. A kernel with checkers takes a quarter of an hour to build, so
# its module is made only if that kernel was built.
CHECK_KERNELS = $(addprefix modules-,$(TEST_KERNELS)) \
	$(if $(shell selftests/vm/build-kernel --if-built 6.12-debug 2>/dev/null),modules-6.12-debug)
CHECK_BUILD = tools tests replays $(CHECK_KERNELS)
CHECK_ALL_BUILD = $(CHECK_BUILD) bench-programs modules-6.1-rt fuzzers $(FUZZERS_FAST) $(MODULES_CHECKED) $(TESTS_BIN)/fail_alloc.so

# The targets that build much show one line of it; V=1 shows the commands. One job more than there are
# processors, for those that wait for a file.
QUIETLY = @$(if $(V),,echo "building; make V=1 $@ shows how" &&) \
	$(MAKE) --no-print-directory $(if $(V),,--silent) -j$$(($$(nproc) + 1))

check:
	@selftests/deps --for check
	$(QUIETLY) $(CHECK_BUILD)
	@selftests/check

check-all:
	@$(call given,SCALE,1,1000000,1)
	@$(call given,JOBS,1,1024,2)
	@selftests/deps --for all
	$(QUIETLY) $(CHECK_ALL_BUILD)
	@selftests/check --all

unit: tests
	@selftests/check core/unit

static vm:
	$(QUIETLY) $(CHECK_BUILD)
	@selftests/check $(if $(filter vm,$@),module,static)

# Runs the commands of README on machines that never saw the project; ONLY=NAME: one of them.
fresh:
	@selftests/deps --for fresh
	@selftests/fresh $(ONLY)
