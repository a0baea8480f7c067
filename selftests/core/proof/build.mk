# SPDX-License-Identifier: GPL-2.0
# Proofs of kmod/core; Documentation/proof.rst.
#
#	make prove      what kmod/core promises, proved; prove-mutants: bugs for which that fails

.PHONY: prove prove-mutants

# One more than there are processors: Frama-C waits for its provers, and they for it.
PROOFS = $(or $(JOBS),$(shell expr $$(nproc) + 1))

prove:
	@selftests/deps --for prove
	@selftests/core/proof/run --jobs $(PROOFS) $(NAME)

prove-mutants:
	@selftests/deps --for prove
	@selftests/core/proof/run --jobs $(PROOFS) --mutants $(NAME)
