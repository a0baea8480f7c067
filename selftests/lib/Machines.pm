# SPDX-License-Identifier: GPL-2.0
#
# From the tests of a tree to commands: which VM a script runs in, and with which others.
# A run is { name, tests, command, seconds, limit, kernel }.
package Machines;
use strict;
use warnings;

use Exporter qw(import);
use List::Util qw(sum0 min max);

our @EXPORT_OK = qw(host_run vm_run shared_runs slower);

# How many times longer a script takes than on 6.1, about; and how long booting takes.
my %slower = ('6.1' => 1, '6.12' => 1, '6.1-rt' => 2);
my %boot = ('6.1' => 6, '6.12' => 8, '6.1-rt' => 10);
sub slower { return $slower{$_[0]} // 5 }
sub boot { return $boot{$_[0]} // 40 }

# A run that takes ten times what it usually does has hung; below two minutes even a busy
# machine says little. For a VM these are seconds that the host's processor works for it.
sub limit { return max(120, int(10 * $_[0])) }

# SCALE, by which the iterations of campaigns are divided.
our $scale = 1;

# The command of a test: its file, with arguments and environment.
sub words {
	my ($test) = @_;
	my @environment = split ' ', $test->{set} // '';
	if (my ($name, $number) = split /:/, $test->{scale} // '') {
		push @environment, "$name=" . max(1, int($number / $scale));
	}
	my @command = ($test->{file}, split ' ', $test->{args} // '');
	@command = ("build/bin/tests/unit/$test->{name}") if $test->{file} =~ /\.c$/;
	return @environment ? ('env', @environment, @command) : @command;
}

sub seconds { my ($test) = @_; return $test->{scale} ? max(1, $test->{time} / $scale) : $test->{time} }

sub host_run {
	my ($test) = @_;
	my $limit = limit(seconds($test));
	return {
		name => $test->{name}, tests => [$test], seconds => seconds($test), limit => $limit,
		kernel => '-', status => $test->{status}, exclusive => $test->{exclusive},
		command => ['timeout', '-k', 10, $limit, words($test)],
	};
}

# Options of a script's VM; scripts with the same options can share a VM.
sub options {
	my ($test, $kernel) = @_;
	my $checked = $kernel =~ /-(debug|kcsan)$/;
	my @options = ('--kernel', $kernel);
	my $counted = $test->{clock} || $kernel =~ /-debug$/ && !$test->{cpus};
	$counted = 0 if $kernel =~ /-kcsan$/ && !$test->{alone};
	push @options, '--icount' if $counted;
	push @options, '--cpus', $test->{cpus} // 2 if !$counted && ($test->{cpus} || $kernel =~ /-kcsan$/);
	my $mem = max($test->{mem} // 0, $checked ? 1536 : 0);
	push @options, '--mem', $mem if $mem;
	push @options, '--append', $test->{append} if $test->{append};
	push @options, '--allow', $test->{allow} if $test->{allow};
	return @options;
}

sub vm_command {
	my ($options, $limit, @words) = @_;
	return ['selftests/vm/run', @$options, '--timeout', $limit, '--', @words];
}

# One script in a VM of its own.
sub vm_run {
	my ($test, $kernel, @more) = @_;
	my $seconds = boot($kernel) + seconds($test) * slower($kernel);
	return {
		name => "$test->{name}-$kernel", tests => [$test], seconds => $seconds,
		limit => limit($seconds), kernel => $kernel,
		command => vm_command([options($test, $kernel), @more], limit($seconds), words($test)),
	};
}

# Fill as few bins as hold what at most takes SECONDS, evenly; a longer test has its own.
sub bins {
	my ($seconds, $kernel, @tests) = @_;
	my $all = slower($kernel) * sum0(map { $_->{time} } @tests);
	my @bins = map { { time => 0, tests => [] } } 1 .. max(1, int(($all + $seconds - 1) / $seconds));
	for my $test (sort { $b->{time} <=> $a->{time} || $a->{name} cmp $b->{name} } @tests) {
		my $least = (sort { $a->{time} <=> $b->{time} } @bins)[0];
		push @{$least->{tests}}, $test;
		$least->{time} += $test->{time};
	}
	return map { [sort { $a->{name} cmp $b->{name} } @{$_->{tests}}] } grep { @{$_->{tests}} } @bins;
}

# Scripts on a kernel, in as few VMs of about SECONDS as there can be, and what wants its own.
sub shared_runs {
	my ($kernel, $seconds, $tests, @more) = @_;
	my (%alike, @runs, $number);
	for my $test (@$tests) {
		if ($test->{alone} || $test->{set} || $test->{args} || $test->{scale}) {
			push @runs, vm_run($test, $kernel, @more);
		} else {
			push @{$alike{join "\0", options($test, $kernel)}}, $test;
		}
	}
	for my $key (sort keys %alike) {
		for my $bin (bins($seconds, $kernel, @{$alike{$key}})) {
			my $time = boot($kernel) + slower($kernel) * sum0(map { $_->{time} } @$bin);
			push @runs, {
				name => "vm-$kernel." . ++$number, tests => $bin, seconds => $time,
				limit => limit($time), kernel => $kernel,
				command => vm_command([split(/\0/, $key), @more], limit($time),
					'selftests/vm/several', map { $_->{file} } @$bin),
			};
		}
	}
	return @runs;
}

1;
