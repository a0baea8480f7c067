# SPDX-License-Identifier: GPL-2.0
#
# "make check-all" can be ended and go on, since it remembers a row for each run, in
# ${BFTMUTEX_CACHE:-~/.cache/bftmutex}/check-all/rows, tab-separated:
#
#	NAME RESULT PASSED FAILED SKIPPED SECONDS DATE TREE SCALE FAILURES
#
# TREE is a hash of kmod, uapi, helper and selftests as they were; a row counts while they are
# the same. FAILURES says how often the run has failed: what fails most comes first.
package Rows;
use strict;
use warnings;

use File::Path qw(make_path);
use List::Util qw(sum0);
use POSIX qw(strftime);

my @columns = qw(name result passed failed skipped seconds date tree scale failures);

sub tree {
	my $hash = qx(git ls-files -s -- kmod uapi helper selftests Kbuild Makefile | git hash-object --stdin);
	die "check: --all wants a git checkout\n" if $?;
	chomp $hash;
	# Uncommitted changes get a hash of their own.
	if (qx(git status --porcelain -- kmod uapi helper selftests Kbuild Makefile)) {
		chomp(my $now = qx(git diff HEAD -- kmod uapi helper selftests Kbuild Makefile | git hash-object --stdin));
		$hash = "$hash+$now";
	}
	return $hash;
}

sub new {
	my ($class, $scale, $fresh) = @_;
	my $cache = $ENV{BFTMUTEX_CACHE} // ($ENV{XDG_CACHE_HOME} // "$ENV{HOME}/.cache") . '/bftmutex';
	my $self = bless {
		file => "$cache/check-all/rows", scale => $scale, tree => tree(), rows => {}, runs => [],
		fresh => $fresh,
	}, $class;
	make_path("$cache/check-all");
	open my $in, '<', $self->{file} or return $self;
	while (<$in>) {
		chomp;
		my %row;
		@row{@columns} = split /\t/;
		$row{tree} = 'begun again' if $fresh;
		$self->{rows}{$row{name}} = \%row;
	}
	return $self;
}

sub save {
	my ($self) = @_;
	open my $out, '>', "$self->{file}.new" or die "check: $self->{file}.new: $!\n";
	for my $name (sort keys %{$self->{rows}}) {
		print $out join("\t", @{$self->{rows}{$name}}{@columns}), "\n";
	}
	close $out or die "check: $self->{file}.new: $!\n";
	rename "$self->{file}.new", $self->{file} or die "check: $self->{file}: $!\n";
}

sub is_done {
	my ($self, $run) = @_;
	my $row = $self->{rows}{$run->{name}} or return 0;
	return $row->{tree} eq $self->{tree} && $row->{result} ne 'failed' && $row->{scale} <= $self->{scale};
}

# Those of RUNS that have not passed as the tree is now, what failed most first, then what takes
# least.
sub left {
	my ($self, @runs) = @_;
	$self->{runs} = \@runs;
	my $failures = sub { ($self->{rows}{$_[0]{name}} // {})->{failures} // 0 };
	return sort { $failures->($b) <=> $failures->($a) || $a->{seconds} <=> $b->{seconds} }
		grep { !$self->is_done($_) } @runs;
}

sub summary {
	my ($self) = @_;
	my $done = grep { $self->is_done($_) } @{$self->{runs}};
	my $left = sum0(map { $_->{seconds} } grep { !$self->is_done($_) } @{$self->{runs}});
	return sprintf '%d of %d have passed as the tree is, at SCALE=%d; the others usually take %.1f hours of a processor',
		$done, scalar @{$self->{runs}}, $self->{scale}, $left / 3600;
}

sub ended {
	my ($self, $run, $parser) = @_;
	my $before = $self->{rows}{$run->{name}} // {};
	my $bad = $parser->has_problems ? 1 : 0;
	$self->{rows}{$run->{name}} = {
		name => $run->{name},
		result => $bad ? 'failed' : $parser->skip_all ? 'skipped' : 'passed',
		passed => $parser->passed - $parser->skipped,
		failed => scalar $parser->failed,
		skipped => scalar $parser->skipped,
		seconds => sprintf('%.0f', $parser->end_time - $parser->start_time),
		date => strftime('%Y-%m-%d', gmtime),
		tree => $self->{tree},
		scale => $self->{scale},
		failures => ($before->{failures} // 0) + $bad,
	};
	$self->save;
}

# When all have passed as the tree is: the table for people.
sub end {
	my ($self) = @_;
	my @left = grep { !$self->is_done($_) } @{$self->{runs}};
	return sprintf("%d of %d have passed as the tree is; \"make check-all\" goes on with the others\n",
		@{$self->{runs}} - @left, scalar @{$self->{runs}}) if @left;
	my $file = 'Documentation/results/check-all.rst';
	make_path('Documentation/results');
	my $longest = (sort { $b <=> $a } map { length $_->{name} } @{$self->{runs}})[0];
	my $rule = '=' x $longest . '  ======  ======  =======  =======  ==========  =====';
	my $form = "%-${longest}s  %6s  %6s  %7s  %7s  %10s  %5s\n";
	open my $out, '>', $file or die "check: $file: $!\n";
	print $out ".. SPDX-License-Identifier: GPL-2.0\n\n================================\n",
		"Results of make check-all, whole\n================================\n\n",
		"Written by ``make check-all``. All passed; a SCALE above 1 divides the iterations of\n",
		"campaigns.\n\n", "$rule\n";
	printf $out $form, qw(run passed failed skipped seconds date SCALE);
	print $out "$rule\n";
	for my $run (sort { $a->{name} cmp $b->{name} } @{$self->{runs}}) {
		printf $out $form, @{$self->{rows}{$run->{name}}}{qw(name passed failed skipped seconds date scale)};
	}
	print $out "$rule\n";
	close $out or die "check: $file: $!\n";
	return "all of check-all have passed as the tree is; $file has the table\n";
}

1;
