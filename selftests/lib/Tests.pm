# SPDX-License-Identifier: GPL-2.0
#
# The tests of this tree, as their files describe them. A file with a line
#
#	# check: WHERE [KEY=VALUE...]		(in C: a comment that begins so)
#
# among its first 60 is a test; with two such lines it is two. WHERE is "host", "vm" (a script
# that runs in a VM) or "part" (of another test, which runs it). The unit tests,
# core/unit/test_*.c, need no line. The keys:
#
#	name=NAME	default: the file's name without .sh; of a script named "run" its folder's
#	tier=all	not part of "make check", only of "make check-all"
#	time=SECONDS	what it usually takes on 6.1 and two idle processors; it may take ten
#			times as long before it is ended
#	args="A B"	arguments
#	set="A=B C=D"	environment
#	scale=NAME:N	a campaign: the variable NAME is how often, N / SCALE times
#	status		prints no TAP; its exit status is the result
#	exclusive	runs while no other test does
#
# and for "vm"
#
#	kernels=K,K	those of "make check", default 6.1; "make check-all" runs it on all,
#			but what has tier=all on these
#	never=K,K	kernels on which it cannot run
#	clock=instructions	the VM's clock counts instructions: figures of time repeat
#	cpus=N mem=MB append="..." allow=REGEX	as vm/run takes them
#	alone		shares its VM with no other script
#	about=module	its programs are helpers themselves: a change of helper/ does not matter
package Tests;
use strict;
use warnings;

use Exporter qw(import);
use File::Basename qw(basename dirname);
use File::Find ();
use Text::ParseWords qw(shellwords);

our @EXPORT_OK = qw(all_tests @kernels);

# Kernels of Debian's, one of them PREEMPT_RT, and those that build-kernel makes of their sources.
our @kernels = qw(6.1 6.12 6.1-rt 6.12-debug 6.1-debug 6.12-kcsan 6.1-kcsan);

my %known = map { $_ => 1 } qw(name tier time args set scale status exclusive kernels never clock
	cpus mem append allow alone about file where);

sub default_name {
	my ($file) = @_;
	return basename(dirname($file)) if basename($file) eq 'run';
	return basename($file, '.sh', '.c');
}

sub bad {
	my ($test, $why) = @_;
	die "check: $test->{file}: $why\n";
}

sub look_at {
	my ($test) = @_;
	for my $key (sort keys %$test) {
		bad($test, "'$key': no such key; selftests/lib/Tests.pm has them") if !$known{$key};
	}
	bad($test, "tier=$test->{tier}: must be all, or not be there")
		if defined $test->{tier} && $test->{tier} ne 'all';
	bad($test, "'$test->{where}': must be host or vm") if $test->{where} !~ /^(host|vm)$/;
	for my $key (qw(time cpus mem)) {
		bad($test, "$key=$test->{$key}: must be a number from 1 on")
			if defined $test->{$key} && $test->{$key} !~ /^[1-9]\d*$/;
	}
	bad($test, 'time=SECONDS is missing') if !$test->{time};
	bad($test, "clock=$test->{clock}: must be instructions, or not be there")
		if defined $test->{clock} && $test->{clock} ne 'instructions';
	for my $kernel (map { split /,/ } grep { defined } @$test{qw(kernels never)}) {
		bad($test, "kernel '$kernel': must be one of @kernels") if !grep { $_ eq $kernel } @kernels;
	}
	bad($test, "scale=$test->{scale}: must be NAME:NUMBER")
		if defined $test->{scale} && $test->{scale} !~ /^[A-Z_]+:[1-9]\d*$/;
	return $test;
}

# The tests of a file; none if it has no such line.
sub of_file {
	my ($file) = @_;
	my @tests;
	open my $in, '<', $file or die "check: $file: $!\n";
	while (<$in>) {
		last if $. > 60;
		next if !m{^(?:#|/\*| \*) check: (.*?)(?: \*/)?$};
		my ($where, @words) = shellwords($1);
		return { part => 1 } if $where eq 'part';
		my %test = (file => $file, where => $where // '');
		for my $word (@words) {
			my ($key, $value) = split /=/, $word, 2;
			$test{$key} = $value // 1;
		}
		$test{name} //= default_name($file);
		push @tests, look_at(\%test);
	}
	close $in;
	return @tests;
}

# A script without the line would never run.
sub forgotten {
	my ($file) = @_;
	return $file =~ m{^selftests/(module/.*\.sh|static/[^/]+)$};
}

# All of them, in the order of their files.
sub all_tests {
	my (@files, @tests, %seen);
	File::Find::find({ no_chdir => 1, wanted => sub {
		push @files, $_ if -f $_ && -x _ || m{/core/unit/test_\w+\.c$};
	} }, 'selftests');
	for my $file (sort @files) {
		my @here = of_file($file);
		@here = ({ file => $file, where => 'host', name => default_name($file), time => 1 })
			if !@here && $file =~ /\.c$/;
		die "check: $file: has no line '# check: ...'; selftests/README tells what it says\n"
			if !@here && forgotten($file);
		@here = grep { !$_->{part} } @here;
		for my $test (@here) {
			die "check: $file: another test is named '$test->{name}': $seen{$test->{name}}\n"
				if $seen{$test->{name}};
			$seen{$test->{name}} = $file;
		}
		push @tests, @here;
	}
	return @tests;
}

1;
