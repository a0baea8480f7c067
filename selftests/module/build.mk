# SPDX-License-Identifier: GPL-2.0
# Tests that run in VMs.
#
#	make races      what ends while traffic arrives, ITERATIONS=10000 of each: hours
#	make floods     DATAGRAMS=10000000 that nobody may notice, and what they cost
#	make torture    locks under faults of all kinds, SECONDS=120 of them, from SEED=
#	make reloads    RELOADS=10000 restarts of a server: nothing granted in its quarantine
#	make order-torture  ordered objects under loss, lies and kills: 45 minutes
#	make fuzz-kernel  fuzz the module in a VM for SECONDS=600, on KERNEL=6.12-debug
#	make failures   each allocation of the programs failing; fail-nth: of the module, in a VM

.PHONY: races floods torture reloads order-torture fuzz-kernel fail-nth failures

KSELFTEST_SOURCES := $(filter-out selftests/module/cluster/contender.c selftests/module/daemon/handover.c \
	selftests/module/daemon/waiters.c selftests/module/objects/order_load.c $(SHARED:%=%.c),$(wildcard $(addprefix selftests/module/,device/*.c netlink/*.c \
	server/*.c objects/*.c daemon/*.c cluster/*.c)))
KSELFTESTS := $(notdir $(basename $(KSELFTEST_SOURCES)))
vpath %.c $(sort $(dir $(KSELFTEST_SOURCES)))

# For "make bench" too, which has no use for the kernel's source.
$(TESTS_BIN)/contender: $(call obj,selftests/module/cluster/contender)
$(TESTS_BIN)/order_load: $(call obj,selftests/module/objects/order_load)
$(TESTS_BIN)/contender $(TESTS_BIN)/order_load: $(call obj,helper/lib/libbftmutex) $(SHARED_A)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o,$^) $(SHARED_A)

$(TESTS_BIN)/netns_exec: selftests/lib/netns_exec.c | compiler
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -static -o $@ $<

$(TESTS_BIN)/dlm_story: $(call obj,selftests/measure/bench/dlm_story $(LIBRARY))
	$(link)

$(TESTS_BIN)/handover $(TESTS_BIN)/waiters: $(TESTS_BIN)/%: $(call obj,selftests/module/daemon/%) $(SHARED_A)
	$(link)

$(KSELFTESTS:%=$(TESTS_BIN)/%): $(TESTS_BIN)/%: %.c $(HARNESS) $(SHARED_A) \
		$(call obj,$(LIBRARY) helper/kernel/nl helper/crypto/digest $(KEYS) $(CONF) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -I$(BUILD)/kselftest $(PKG_CFLAGS) $(CFLAGS_ALL) $(LDFLAGS) \
		-MMD -MP -MF $(BUILD)/obj/test-$*.d -o $@ $< $(filter %.a %.o,$^) \
		$(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS)

# Examples of bftmutex(3) and bftmutex(4), as they stand there; static/install builds them against
# what is installed.
EXAMPLES := $(addprefix $(TESTS_BIN)/example-,3-1 3-2 3-3 4-1)
$(EXAMPLES): $(TESTS_BIN)/example-%: selftests/module/device/example $(wildcard Documentation/man/bftmutex.[34]) \
		$(BIN)/libbftmutex.so.0
	@mkdir -p $(@D)
	$< $(subst -, ,$*) | $(CC) -Iuapi -Ihelper/lib $(CFLAGS_ALL) $(LDFLAGS) -o $@ -x c - -x none $(BIN)/libbftmutex.so.0

TORTURE_TESTS := $(addprefix $(TESTS_BIN)/,torture_client reloads)

# Servers, daemons and namespaces end while traffic arrives, over and over.
RACES := $(basename $(wildcard selftests/module/races/*.c))
$(BIN)/bftmutex-races: $(call obj,$(RACES) helper/kernel/nl helper/crypto/digest $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	$(call link,,$(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS))

# ITERATIONS of each scenario, 10000 unless set; see selftests/module/races/run.
races:
	@selftests/module/races/run --check
	@$(given_kernel)
	@$(MAKE) --no-print-directory tools tests modules-$(vm_kernel)
	@selftests/module/races/run

# Datagrams that nobody may notice.
FLOODS := $(basename $(wildcard selftests/module/floods/*.c))
$(BIN)/bftmutex-floods: $(call obj,$(FLOODS) helper/crypto/digest $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	$(call link,,$(CONF_LIBS) $(CRYPTO_LIBS))

floods:
	@selftests/module/floods/run --check
	@$(given_kernel)
	@$(MAKE) --no-print-directory tools tests modules-$(vm_kernel)
	@selftests/module/floods/run

# Locks under whatever may befall them; bftmutex-history checks what clients wrote down.
HISTORY := $(addprefix selftests/module/torture/,history stays counters)
$(BIN)/bftmutex-history: $(call obj,$(HISTORY) selftests/module/torture/main)
	$(link)

$(TESTS_BIN)/torture_client: $(call obj,$(addprefix selftests/module/torture/,torture_client holder) helper/lib/libbftmutex)
	$(link)

$(TESTS_BIN)/reloads: $(call obj,selftests/module/torture/reloads helper/kernel/nl $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	$(call link,,$(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS))

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

# Ten thousand requests of each type of object, under loss and with programs killed.
order-torture:
	@$(given_seed)
	@$(given_kernel)
	@$(MAKE) --no-print-directory tools $(BIN)/bftmutex-lin $(BIN)/bftmutex-liar \
		$(TESTS_BIN)/order_load modules-$(vm_kernel)
	selftests/vm/run --kernel $(vm_kernel) --icount --mem 1024 --timeout 14400 -- env BFTMUTEX_OPS=10000 \
		BFTMUTEX_HOSTS=8 $(if $(SEED),BFTMUTEX_SEED=$(SEED)) \
		selftests/module/objects/order_torture.sh

# The module itself, in a VM; guided when the kernel has KCOV.
KFUZZ := $(addprefix selftests/module/kfuzz/,main device netlink attribute datagram liar value cover) \
	helper/kernel/nl helper/crypto/digest $(KEYS) $(CONF) $(CORE)
$(BIN)/bftmutex-kfuzz: $(call obj,$(KFUZZ))
	@mkdir -p $(@D)
	clang -fsanitize=fuzzer -pie -o $@ $^ $(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS)

$(BIN)/bftmutex-kfuzz-seeds: $(call obj,selftests/module/kfuzz/seeds)
	$(link)

fuzz-kernel: vm_kernel = $(or $(KERNEL),6.12-debug)
fuzz-kernel:
	@BFTMUTEX_SECONDS=$(call quoted,$(SECONDS)) selftests/module/kfuzz/run --check
	@$(given_kernel)
	@$(MAKE) --no-print-directory $(BIN)/bftmutex-kfuzz $(BIN)/bftmutex-kfuzz-seeds modules-$(vm_kernel)
	@BFTMUTEX_SECONDS=$(call quoted,$(SECONDS)) selftests/module/kfuzz/run

# Every call of the module with each of its allocations failing, and some under traffic.
FAIL_NTH := $(addprefix selftests/module/failures/,fail_nth nth_module nth_server nth_change nth_client)
$(TESTS_BIN)/fail_nth: $(call obj,$(FAIL_NTH) helper/kernel/nl helper/crypto/digest $(KEYS) $(CONF) $(CORE)) $(SHARED_A)
	$(call link,,$(NL_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS))

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
