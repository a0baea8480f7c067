# SPDX-License-Identifier: GPL-2.0
# Proofs of kmod/core; Documentation/proof.rst.
#
#	make prove      what kmod/core promises, proved; prove-mutants: bugs for which that fails

.PHONY: prove prove-mutants

# One more than there are processors: Frama-C sleeps for a sixth of the time between goals.
PROOFS_AT_A_TIME = $(or $(JOBS),$(shell echo $$(($$(nproc) + 1))))

prove:
	@selftests/deps --for prove
	@selftests/core/proof/run --jobs $(PROOFS_AT_A_TIME) $(NAME)

prove-mutants:
	@selftests/deps --for prove
	@selftests/core/proof/run --jobs $(PROOFS_AT_A_TIME) --mutants $(NAME)
