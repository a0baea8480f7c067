# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The machines that "run" knows, for what differs between them. Sourced by run.
#
# shellcheck disable=SC2034,SC2154  # set for, and by, run

# The emulator, its package, the bus of its devices, the network card; devices of the VM for
# output and report; what is in the initramfs.
machine_amd64() {
	qemu_program=qemu-system-x86_64 package=qemu-system-x86 bus=pci nic=virtio-net-pci,romfile=
	output=ttyS1 report=ttyS2
	busybox=$(command -v busybox) || :
	drivers=(virtio_pci 9pnet_virtio 9p overlay)
}

# These have no more than one serial port, on which the kernel talks.
machine_arm64() {
	qemu_program=qemu-system-aarch64 package=qemu-system-arm bus=pci nic=virtio-net-pci,romfile=
	output=hvc0 report=hvc1
	busybox=$root/bin/busybox
	drivers=(virtio_pci virtio_console 9pnet_virtio 9p overlay)
}
machine_s390x() {
	qemu_program=qemu-system-s390x package=qemu-system-misc bus=ccw nic=virtio-net-ccw
	output=hvc0 report=hvc1
	busybox=$root/bin/busybox
	drivers=(virtio_console 9pnet_virtio 9p overlay)
}

# kHz of the host's time stamp counter, which is the VM's too; a virtual host's own kernel
# shows it. Measured by a VM on a busy host it was wrong by a factor of 40 once.
counter() {
	! grep -qw hypervisor /proc/cpuinfo ||
		sed -n 's/^cpu MHz[^0-9]*\([0-9]\+\)\.\([0-9]\{3\}\)$/\1\2/p;T;q' /proc/cpuinfo
}

# The machine, for the kernel and QEMU: add to params, and to arguments.
# shellcheck disable=SC2054  # commas belong to QEMU's options
arguments_amd64() {
	local khz
	params+=" console=ttyS0"
	# On a busy host a virtual CPU may stand still for seconds.
	params+=" tsc=reliable no_timer_check"
	[[ $icount ]] || khz=$(counter)
	params+=${khz:+ tsc_early_khz=$khz}
	[[ $image == */vmlinux ]] || params+=" nokaslr"
	# Finding out how fast the local APIC's timer is takes a tenth of a second of reading clocks,
	# which are slow to read where instructions are counted: a third of the boot. The HPET is known.
	[[ ! $icount || $cpus != 1 ]] || params+=" noapictimer"
	# With checkers ACPI's methods take longer than it allows; its tables tell of processors
	# and clocks, which are not needed when instructions are counted.
	[[ $kernel != *-debug ]] || params+=" acpi=$([[ $icount ]] && echo off || echo noirq)"
	# A newer processor takes half as long again.
	cpu=${cpu:-Nehalem,+rdrand}
	# While the kernel finds out what its processor is, with interrupts on, it takes addresses of
	# five levels for wild ones: KASAN ended one boot in four beside other work.
	[[ $kernel != *-debug || $cpu != max ]] || cpu+=,la57=off
	arguments+=(
		-machine pc -serial chardev:console -serial chardev:output -serial chardev:report
	)
}

# shellcheck disable=SC2054
arguments_arm64() {
	params+=" console=ttyAMA0"
	# A newer one signs addresses, which takes twice as long.
	cpu=${cpu:-cortex-a72}
	arguments+=(-machine virt -serial chardev:console)
	arguments_console
}

# shellcheck disable=SC2054
arguments_s390x() {
	params+=" console=ttyS0"
	cpu=${cpu:-qemu}
	arguments+=(-machine s390-ccw-virtio -serial chardev:console)
	arguments_console
}

# shellcheck disable=SC2054
arguments_console() {
	arguments+=(
		-device "virtio-serial-$bus"
		-device virtconsole,chardev=output -device virtconsole,chardev=report
	)
}
