# SPDX-License-Identifier: GPL-2.0
# Tests that need no kernel.
#
#	make sim-long   ten million simulated scenarios
#	make mutants    bugs planted and found, all or NAME=; make sim-mutants: by the simulator alone
#	make model      every interleaving of small clusters: a quarter of an hour
#	make fuzz       fuzz each parser and core for SECONDS=600; fuzz-fast without sanitizers
#	make fuzz-campaign  each without sanitizers until RUNS=1000000000 are done
#	make coverage   what fuzzers and unit tests reach of the parsers; coverage-kernel: of the module

.PHONY: fuzzers replays fuzz fuzz-fast fuzz-campaign model mutants sim-mutants mutant-parts sim-long coverage

# Protocols that no host runs: in tests, and by TEST_PROTOCOLS=1 in a module for tests.
REFERENCE := $(wildcard selftests/core/reference/*.[ch] selftests/core/reference/*/*.[ch])
TEST_TABLE := $(basename $(filter %.c,$(REFERENCE)))

$(BUILD)/%/test-protocols/bftmutex.ko: $(BUILD)/%/kernel $(KMOD_SOURCES) $(REFERENCE)
	@mkdir -p $(@D)
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/uapi $(CURDIR)/selftests/core/reference $(@D)
	$(MAKE) -C $(KDIR) M=$(abspath $(@D)) TEST_PROTOCOLS=1 modules
	@touch $@

# Ways to lie about order, and what they share, are files selftests/core/liar/order_*.c.
ORDER_LIES := $(basename $(wildcard selftests/core/liar/order_*.c))
LIAR := $(filter-out $(ORDER_LIES),$(basename $(wildcard selftests/core/liar/*.c)))

$(BIN)/bftmutex-liar: $(call obj,$(LIAR) $(ORDER_LIES) helper/crypto/digest $(CONF) $(KEYS) $(CORE) $(CORE_SERVER) $(TEST_TABLE))
	$(call link,,$(CONF_LIBS) $(CRYPTO_LIBS))

# Checks histories of objects; main.c reads files of them.
LIN := $(filter-out selftests/core/lin/main,$(basename $(wildcard selftests/core/lin/*.c)))
$(BIN)/bftmutex-lin: $(call obj,$(LIN) selftests/core/lin/main helper/text/json)
	$(call link,,$(JSON_LIBS) $(CRYPTO_LIBS))

UNIT := $(notdir $(basename $(wildcard selftests/core/unit/test_*.c)))

# Unit tests are linked with sanitized objects of what they test. They come from an archive:
# a test may have functions of its own in the place of one of them.
sobj = $(patsubst %,$(BUILD)/obj-sanitize/%.o,$(1))

$(BUILD)/obj-sanitize/%.o: %.c | libraries
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) $(SANITIZE) -MMD -MP -c -o $@ $<

# The linker gold, where the compiler's binutils have it, takes a seventh of the time.
FAST_LINK := $(if $(shell command -v $(patsubst %gcc,%,$(filter %-gcc,$(CC)))ld.gold),-fuse-ld=gold)

# Algorithms of equal processes, which are no protocols of ours; and the world that runs them.
PEERS := $(basename $(wildcard selftests/core/peers/*.c))

# Functions that several unit tests share.
UNIT_SHARED := $(filter-out selftests/core/unit/fail selftests/core/unit/test_%,\
	$(basename $(wildcard selftests/core/unit/*.c)))
UNIT_OBJS := $(sort $(CORE) $(CORE_SERVER) $(TEST_TABLE) $(ROOMS) $(LIN) $(HISTORY) $(UNIT_SHARED) \
	$(filter-out selftests/core/peers/main,$(PEERS)))
$(BUILD)/obj-sanitize/all.a: $(call sobj,$(UNIT_OBJS))
	rm -f $@
	$(AR) qcs $@ $^

$(TESTS_BIN)/unit/%: $(BUILD)/obj-sanitize/selftests/core/unit/%.o $(BUILD)/obj-sanitize/all.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(SANITIZE) $(LDFLAGS) $(FAST_LINK) $(WRAP) -o $@ $^ $(UNIT_LIBS)

UNIT_LIBS = $(NL_LIBS) $(JSON_LIBS) $(CONF_LIBS) $(CRYPTO_LIBS) $(MD_LIBS) $(SQLITE_LIBS) \
	$(SECCOMP_LIBS) $(CMOCKA_LIBS)
CMOCKA_LIBS = $(call ask,CMOCKA_LIBS,pkg-config --libs cmocka)

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

# Says what the codec reads of datagrams, for comparison with that of selftests/core/vectors.
$(TESTS_BIN)/wire_judge: $(call sobj,selftests/core/vectors/judge $(addprefix kmod/core/,form wire ordering/wire))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(SANITIZE) $(LDFLAGS) -o $@ $^

# Whole clusters in virtual time, with the strategies of the liar.
SIM := $(basename $(wildcard selftests/core/sim/*.c)) $(filter-out \
	$(addprefix selftests/core/liar/,liar liar_order node node_order node_bodies socket cmdline),\
	$(LIAR)) $(ORDER_LIES)
SIM_OBJS := $(CORE) $(CORE_SERVER) $(TEST_TABLE) $(OBJECT)
$(BIN)/bftmutex-sim: $(call obj,$(SIM) $(SIM_OBJS))
	$(link)

# Bugs planted one by one, and found: NAME=, or all, from SEED, JOBS at a time; by the simulator
# alone, or by all that must find them.
sim-mutants mutants:
	@$(call given,SEED,0,1000000000,1)
	@$(call given,JOBS,1,1024,1)
	@selftests/core/mutants/run $(if $(filter sim-%,$@),--killer sim) --seed $(or $(SEED),1) \
		--jobs $(or $(JOBS),1) $(if $(NAME),$(call quoted,$(NAME)))

# Prints what programs with a planted bug are made of, for that.
mutant-parts:
	@echo 'mutant-sim: $(call obj,$(SIM) $(SIM_OBJS))'
	@echo 'mutant-model-lock: $(call obj,$(MODEL) $(CORE) $(CORE_SERVER) $(TEST_TABLE))'
	@echo 'mutant-model-order: $(call obj,$(ORDER_MODEL) $(CORE) $(CORE_SERVER) $(TEST_TABLE))'
	@echo 'mutant-model-token: $(call obj,$(TOKEN_MODEL) $(CORE) $(CORE_SERVER) $(TEST_TABLE))'
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

# Every interleaving of small clusters.
MODEL := $(basename $(wildcard selftests/core/model/*.c selftests/core/model/lock/*.c))
$(BIN)/bftmutex-model: $(call obj,$(MODEL) $(CORE) $(CORE_SERVER) $(TEST_TABLE))
	$(link)

# Fencing tokens over restarts; the client that tells servers of them is the daemon's.
TOKEN_MODEL := $(basename $(wildcard selftests/core/model/*.c selftests/core/model/tokens/*.c)) \
	$(addprefix helper/cluster/,recover probe member lies)
$(BIN)/bftmutex-token-model: $(call obj,$(TOKEN_MODEL) $(CORE) $(CORE_SERVER) $(TEST_TABLE))
	$(link)

# Every sequence of iterations of the ordering protocol.
ORDER_MODEL := selftests/core/model/command $(basename $(wildcard selftests/core/model/order/*.c))
$(BIN)/bftmutex-order-model: $(call obj,$(ORDER_MODEL) $(CORE) $(CORE_SERVER) $(TEST_TABLE))
	$(link)

$(BIN)/bftmutex-peers: $(call obj,$(PEERS) selftests/core/sim/queue selftests/core/model/command \
		$(CORE) $(CORE_SERVER) $(TEST_TABLE))
	$(link)

# The figures of another paper, by some of these.
CROWD := $(basename $(wildcard selftests/core/peers/crowd/*.c)) \
	$(addprefix selftests/core/peers/,strawman sigma ours)
$(BIN)/bftmutex-crowd: $(call obj,$(CROWD) selftests/core/sim/queue selftests/core/model/command \
		$(CORE) $(CORE_SERVER) $(TEST_TABLE))
	$(call link,,-lm)

model: $(addprefix $(BIN)/bftmutex-,model order-model token-model)
	@selftests/core/model/lock/run
	@selftests/core/model/order/run
	@selftests/core/model/tokens/run

# Fuzzers, by clang's libFuzzer on the same files: with sanitizers in tests/fuzz, for their
# number in tests/fuzz-fast, and to see what they reach in tests/fuzz-coverage. The files
# come from an archive, so that the fuzzer looks at no more of them than a target calls; what
# stands for the kernel and for files from another, before it.
FUZZERS := $(patsubst selftests/core/fuzz/fuzz_%.c,%,$(wildcard selftests/core/fuzz/fuzz_*.c))
FUZZ_OBJS := $(sort $(CORE) $(CORE_SERVER) $(TEST_TABLE) $(ROOMS)) selftests/core/fuzz/oracle
FUZZ_FAKES := $(addprefix selftests/core/fuzz/,file kernel)
# clang sees when an initializer clears another one in a union, gcc does not: it is an error here.
FUZZ_CFLAGS := -std=gnu11 -g -Wall -Wextra -Wno-c2x-extensions -Wno-missing-field-initializers \
	-Wno-bitwise-instead-of-logical -Werror=initializer-overrides
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
	$(CC) $(CFLAGS_ALL) $(SANITIZE) $(LDFLAGS) $(FAST_LINK) -o $@ $^ $(UNIT_LIBS)

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

# Measures which lines of the parsers the fuzzers' inputs and the unit tests reach. The unit tests
# are those of the sanitized build, by clang.
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

.PRECIOUS: $(BUILD)/obj-sanitize/%.o
