# SPDX-License-Identifier: GPL-2.0
# Packages and archives of the project; included by the Makefile.
#
#	make deb        Debian packages, in @BUILD@/deb
#	make dist       an archive of the sources, in @BUILD@/dist; make rpm-spec: of an RPM package

.PHONY: deb dist rpm-spec

# Also works as an ordinary user; the packages are in build/deb.
deb:
	@selftests/deps --for deb
	@helper/packaging/deb -b
	@ls build/deb/*.deb

dist:
	@mkdir -p build/dist
	@helper/packaging/dist build/dist/bftmutex-$(VERSION).tar.xz
	@echo build/dist/bftmutex-$(VERSION).tar.xz

# For "rpmbuild -ta" of an archive that has the file at its top.
rpm-spec:
	@mkdir -p build/dist
	@sed 's/@VERSION@/$(VERSION)/' helper/packaging/bftmutex.spec.in >build/dist/bftmutex.spec
	@echo build/dist/bftmutex.spec
