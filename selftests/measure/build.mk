# SPDX-License-Identifier: GPL-2.0
# Numbers, and what tests reach.
#
#	make figures    numbers of Documentation/figures, from the simulator
#	make bench      the table of performance goals, in VMs: eight minutes; bench-all: and under attack,
#			with lost datagrams, and on two processors

.PHONY: bench bench-all bench-programs figures demo coverage-kernel

# Times against goals, in a VM whose clock counts instructions. Nothing else compiles these programs.
BENCH := $(addprefix $(BIN)/bench/,$(notdir $(filter-out $(SHARED),\
	$(basename $(wildcard selftests/measure/bench/*.c)))))
$(BIN)/bench/%: selftests/measure/bench/%.c $(SHARED_A) $(call obj,$(KEYS) $(CONF) $(CORE))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -Werror=misleading-indentation $(LDFLAGS) \
		-MMD -MP -MF $(BUILD)/obj/bench-$*.d \
		-o $@ $< $(filter %.a %.o,$^) $(CONF_LIBS) $(CRYPTO_LIBS) $(BENCH_LIBS)
$(BIN)/bench/etcd_lock: BENCH_LIBS = $(shell pkg-config --libs libnghttp2)

# The story of the DLM; that of bftmutex is selftests/module/build.mk's.
$(BIN)/bench/dlm_story: BENCH_LIBS = -ldlm_lt
$(BIN)/bench/dlm_story: CPPFLAGS += -DSTORY_LIBDLM

bench: run-bench =
bench-all: run-bench = --all
bench bench-all:
	@selftests/deps --for bench
	@$(MAKE) --no-print-directory tools $(BIN)/bftmutex-liar \
		$(addprefix $(TESTS_BIN)/,netns_exec handover order_load contender) bench-programs modules-6.1
	@selftests/measure/bench/run $(run-bench)

bench-programs: $(BENCH)

# Figures of it, but for the applications.
FIGURES := $(basename $(wildcard selftests/measure/figures/*.c)) $(filter-out \
	$(addprefix selftests/core/sim/,app main cmdline batch failure golden stats),$(SIM))
$(BIN)/bftmutex-figures: $(call obj,$(FIGURES) $(SIM_OBJS))
	$(link)

figures: $(addprefix $(BIN)/bftmutex-,figures peers crowd)
	@selftests/measure/figures/run

# Code of the module that the tests in VMs reach, by a kernel with checkers: hours.
coverage-kernel: tools tests
	@folder=$$(MAKEFLAGS= selftests/vm/build-kernel 6.12-debug) && \
	$(MAKE) --no-print-directory module BUILD=$(BUILD)/gcov KDIR=$$folder/build \
		KVER=$$(cd $$folder/lib/modules && echo *) KBUILD_FLAGS=GCOV_PROFILE=y
	@selftests/measure/coverage/kernel

demo:
	@selftests/deps --for demo
	$(QUIETLY) tools $(BIN)/bftmutex-liar $(addprefix $(TESTS_BIN)/,netns_exec contender) modules-6.1
	@selftests/measure/demo/demo
