# SPDX-License-Identifier: GPL-2.0
# Files that make bftmutex usable from other programs; none of them is compiled.

SHAREDIR ?= $(PREFIX)/share/bftmutex
PYTHONDIR ?= $(PREFIX)/lib/python3/dist-packages
OCFDIR ?= $(PREFIX)/lib/ocf/resource.d
COMPLETIONDIR ?= $(PREFIX)/share
ZSHDIR ?= $(COMPLETIONDIR)/zsh/vendor-completions
COMPLETED := bftmutex bftmutexctl bftmutexd bftmutex-metrics bftmutex-trace

# mode:file of this folder:where it goes
INTEGRATIONS := 0755:metrics/bftmutex-metrics:$(SBINDIR)/bftmutex-metrics \
	0644:metrics/alerts.yml:$(SHAREDIR)/alerts.yml \
	0644:metrics/alerts-test.yml:$(SHAREDIR)/alerts-test.yml \
	0644:metrics/dashboard.json:$(SHAREDIR)/dashboard.json \
	0644:../systemd/bftmutex-metrics.timer:$(UNITDIR)/bftmutex-metrics.timer \
	0644:python/bftmutex.py:$(PYTHONDIR)/bftmutex.py \
	0644:sos/bftmutex.py:$(PYTHONDIR)/sos/report/plugins/bftmutex.py \
	0755:ocf/lock:$(OCFDIR)/bftmutex/lock \
	0755:fence/fence_bftmutex:$(SBINDIR)/fence_bftmutex \
	0644:shell/bftmutex.sh:$(SHAREDIR)/bftmutex.sh \
	0644:go/bftmutex.go:$(SHAREDIR)/go/bftmutex.go \
	0644:rust/bftmutex.rs:$(SHAREDIR)/rust/bftmutex.rs \
	0644:wireshark/bftmutex.lua:$(SHAREDIR)/wireshark/bftmutex.lua \
	0755:completion/bftmutex-complete:$(SHAREDIR)/bftmutex-complete \
	$(foreach name,$(COMPLETED),0644:completion/bash:$(COMPLETIONDIR)/bash-completion/completions/$(name)) \
	0644:completion/zsh:$(ZSHDIR)/_bftmutex \
	$(foreach name,$(COMPLETED),0644:completion/fish:$(COMPLETIONDIR)/fish/vendor_completions.d/$(name).fish)

.PHONY: install-integrations uninstall-integrations
install: install-integrations
uninstall: uninstall-integrations

# Installs nothing where "install" refuses to. Each entry names the place of the file.
install-integrations: tools
	@[ -n "$(DESTDIR)" ] || [ -e $(BUILD)/$(KVER)/bftmutex.ko ] || exit 0; \
	for entry in $(INTEGRATIONS); do \
		mode=$${entry%%:*} && entry=$${entry#*:} && \
		sed 's,/usr/share/bftmutex,$(SHAREDIR),g' helper/integrations/$${entry%%:*} \
			>$(BUILD)/integration && \
		$(INSTALL) -D -m $$mode $(BUILD)/integration $(DESTDIR)$${entry#*:} || exit; \
	done

uninstall-integrations:
	rm -f $(foreach entry,$(INTEGRATIONS),$(DESTDIR)$(lastword $(subst :, ,$(entry))))
