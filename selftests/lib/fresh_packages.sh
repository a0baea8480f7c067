# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For selftests/fresh: the project's Debian packages, from "make deb" to a purge.
# shellcheck disable=SC2154,SC2317  # set by, and called from, fresh

# lintian checks the packages built on Debian 12; the later ones differ only in their number.
# shellcheck disable=SC2016  # for the shell in the root
build_packages() {
	timed "deps --for deb" within root selftests/deps --for deb || return
	timed "make deb" within root make deb || return
	ok "lintian finds nothing" within root sh -c \
		'lintian --allow-root --no-cfg --fail-on error,warning build/deb/*.changes' || return
	ok "make dist" within root sh -c 'make dist && tar -tf build/dist/bftmutex-*.tar.xz' || return
	ok "it has the module, the programs and this test" test "$(grep -cE '^bftmutex-[^/]*/(Kbuild|README|selftests/fresh)$' "$log.part")" = 3
	ok "rpmspec reads the description of an RPM" within root sh -c \
		'make rpm-spec && rpmspec -P build/dist/bftmutex.spec >/dev/null'
	ok "later packages" within root sh -c \
		'mv build/deb /root/first && SUFFIX=+later helper/packaging/deb -b && mv build/deb /root/later'
}

# Of systemd, on which bftmutex depends, a purge leaves folders.
purge_packages() {
	local tar=$build/base.tgz name packages=()
	for name in bftmutex bftmutex-dkms libbftmutex0 libbftmutex-dev python3-bftmutex; do
		packages+=("$root/root/first/${name}"_*.deb)
	done
	gzip -1c "$base" >"$tar"
	timed "piuparts installs and purges all" env -u TMPDIR piuparts -t "$build" -b "$tar" \
		-d bookworm --keep-sources-list --no-eatmydata --no-check-valid-until --no-upgrade-test \
		--fake-essential-packages=systemd "${packages[@]}"
	rm "$tar"
}

# The module is built here, natively, for all kernels that have headers.
install_packages() {
	local line
	ok "what a Debian host has, and a later kernel's headers" within root sh -c \
		'apt-get update && INITRD=No DEBIAN_FRONTEND=noninteractive apt-get -y install --no-install-recommends linux-image-amd64 linux-headers-6.12-amd64 systemd systemd-sysv iproute2' ||
		return
	line=$(sed -n 's/^\t\(apt-get install .*\.deb\)$/\1/p' "$top/README")
	timed "README: $line" within root sh -c \
		"cd /root/first && DEBIAN_FRONTEND=noninteractive ${line/install/-y install}" || return
	# In a root that is not running, DKMS may leave the builds for the first boot.
	within root sh -c 'for dir in /lib/modules/*; do dkms autoinstall -k "${dir##*/}"; done'
	ok "dkms status" within root dkms status
	is "the module is installed for 6.1 and 6.12" \
		"$(sed -n 's/^bftmutex.*, \(6\.[0-9]*\)\..*: installed.*/\1/p' "$log.part" | sort -u | xargs)" "6.1 6.12"
	ok "apt-get install later ones of DKMS" within root sh -c \
		'dpkg -i /root/later/bftmutex-dkms_*.deb && dkms status | grep -q "^bftmutex.*installed"'
}

readme_packages() {
	local release
	build_packages || return
	purge_packages
	install_packages || return
	# The release whose modules "run" takes.
	release=$(cd "$root/lib/modules" && printf '%s\n' * | tail -n 1)
	rm -rf "$build/kernel" "$root/usr/sbin/policy-rc.d"
	mkdir "$build/kernel"
	ln -s "$root/boot/vmlinuz-$release" "$build/kernel/bzImage"
	ln -s "$root/lib" "$build/kernel/lib"
	timed "installed, upgraded, removed, purged in a VM" in_vm selftests/module/daemon/packages.sh
	grep -E '^not ok' "$log.part"
	packages_on_hosts
	rm -r "$build/kernel"
}

# Three VMs, each with the root as it was after the installation.
packages_on_hosts() {
	local n share=$build/share status
	rm -rf "$share"
	mkdir "$share"
	for n in 1 2 3; do
		"$root$tree/selftests/vm/run" --kernel "$build/kernel" --root "$root" --timeout 900 \
			--mem 512 --link "packages$$" --index "$n" --share "$share" -- \
			selftests/module/daemon/packages_hosts.sh >"$share/out-$n" 2>"$share/err-$n" &
		hosts[n]=$!
	done
	for n in 1 2 3; do
		wait "${hosts[n]}"
		status=$?
		tap_merge "host $n of three: " <"$share/out-$n"
		is "host $n of three: came to its end" $status 0 || diag "$(tail -n 30 "$share/err-$n")"
	done
	hosts=()
	rm -r "$share"
}
