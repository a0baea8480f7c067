# SPDX-License-Identifier: GPL-2.0
# Proofs of kmod/core; Documentation/proof.rst.
#
#	make prove      what kmod/core promises, proved; prove-mutants: bugs for which that fails

.PHONY: prove prove-mutants

prove:
	@selftests/deps --for prove
	@selftests/core/proof/run --jobs $(or $(JOBS),$(shell nproc)) $(NAME)

prove-mutants:
	@selftests/deps --for prove
	@selftests/core/proof/run --jobs $(or $(JOBS),$(shell nproc)) --mutants $(NAME)
