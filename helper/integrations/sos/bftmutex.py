# SPDX-License-Identifier: GPL-2.0
"""Plug-in of sos(1) for bftmutex: collects the output of bftmutexctl, and no keys."""
from sos.report.plugins import DebianPlugin, IndependentPlugin, Plugin, RedHatPlugin, UbuntuPlugin


# On Debian sos 4.0 takes no plug-in that is an IndependentPlugin alone.
class Bftmutex(Plugin, IndependentPlugin, DebianPlugin, RedHatPlugin, UbuntuPlugin):
    """Locks of a cluster whose servers may lie"""

    short_desc = "bftmutex cluster locks"
    plugin_name = "bftmutex"
    profiles = ("cluster",)
    packages = ("bftmutex",)
    files = ("/etc/bftmutex/bftmutex.conf",)
    kernel_mods = ("bftmutex",)

    def setup(self):
        # Nothing else of /etc/bftmutex is copied, and nothing of /var/lib/bftmutex, where the
        # journal has the content of all objects.
        self.add_copy_spec(["/etc/bftmutex/bftmutex.conf", "/etc/default/bftmutex-server",
                            "/sys/module/bftmutex/version"])
        self.add_forbidden_path(["/etc/bftmutex/keys", "/var/lib/bftmutex"])
        self.add_cmd_output(["bftmutexctl %s --json" % command for command in (
            "check", "check --server", "cluster show", "servers", "server show",
            "server access show", "stats", "holders", "locks", "objects", "clients",
            "object list --wait 10s")])
        # Owners and modes of the keys, which are a common mistake.
        self.add_cmd_output("ls -laR /etc/bftmutex /var/lib/bftmutex")
        self.add_journal(units=["bftmutexd", "bftmutex-server@*", "bftmutex-journal@*",
                                "bftmutex-roll@*", "bftmutex-metrics"])
