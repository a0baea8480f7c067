# SPDX-License-Identifier: GPL-2.0
# The texts as a site.
#
#	make html       texts, manual pages and figures, in @BUILD@/html (deps --for html)

.PHONY: html

DOC := $(BUILD)/doc
PAGES := $(patsubst Documentation/man/%,$(DOC)/man/%.rst,$(wildcard Documentation/man/*.[1-8]))
DRAWN := response rounds adaptivity cost optimisations healing compare sigma bench
SVGS := $(DRAWN:%=$(DOC)/figures/%.svg)

# In a folder of its own, so that nothing is written beside the texts.
html: $(PAGES) $(SVGS)
	@command -v sphinx-build >/dev/null || { \
		echo "html: sphinx-build is missing: selftests/deps --for html" >&2; exit 69; }
	@rm -rf $(DOC)/results && cp -r Documentation/*.rst Documentation/conf.py Documentation/results $(DOC)
	sphinx-build -q -W --keep-going -b html $(DOC) $(BUILD)/html

# A manual page as a text that consists of HTML, so that index and search have it.
$(DOC)/man/%.rst: Documentation/man/% Documentation/build.mk
	@command -v mandoc >/dev/null || { \
		echo "html: mandoc is missing: selftests/deps --for html" >&2; exit 69; }
	@mkdir -p $(@D)
	@mandoc -T html -O fragment $< | sed -e 's,<b>\(bftmutex[a-z.-]*\)</b>(\([1-8]\)),<a href="\1.\2.html">&</a>,g' \
		-e 's,Documentation/\([a-z]*\)\.rst,<a href="../\1.html">&</a>,g' >$(@:.rst=.html)
	@title="$(basename $*)($(subst .,,$(suffix $*)))" && \
		printf '%s\n' "$$title" "$$title" '' '.. raw:: html' "   :file: $*.html" | \
		sed '2s/./=/g' >$@

# A drawing is a function of its numbers.
$(DOC)/figures/%.svg: Documentation/figures/%.csv selftests/measure/figures/draw selftests/measure/figures/%.gp
	@OUT=$(@D) selftests/measure/figures/draw $*

$(DOC)/figures/cost.svg: Documentation/figures/availability.csv
$(DOC)/figures/bench.svg: Documentation/figures/bench-values.csv selftests/measure/bench/draw \
		selftests/measure/bench/bench.gp
	@OUT=$(@D) selftests/measure/bench/draw
