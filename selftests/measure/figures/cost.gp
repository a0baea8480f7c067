# SPDX-License-Identifier: GPL-2.0
width = 980; height = 720
load dir . "/common.gp"
rules = "3b+1 5b+1 6b+1"
set xlabel "liars that are masked, b"
set xrange [0.7:6.3]
set xtics 1
set lmargin 9
set rmargin 2
of(i, is) = only(word(rules, i), is)
set multiplot layout 2,2
set title "datagrams to and from servers"
set ylabel "datagrams an acquire"
set yrange [0:*]
set key left top Left reverse
plot for [i = 1:3] csv using ($2 * of(i, strcol(1)) * only("1", strcol(4))):5 \
	with linespoints linecolor rgb colour(i) pointtype 7 pointsize 0.6 \
	title "n = " . word(rules, i) . ", one client", \
	for [i = 1:3] csv using ($2 * of(i, strcol(1)) * only("16", strcol(4))):5 \
	with linespoints dashtype 3 linecolor rgb colour(i) pointtype 6 pointsize 0.6 \
	title "n = " . word(rules, i) . ", each of 16"

set logscale y
set yrange [1e-18:1]
set format y "10^{%L}"
set ylabel "chance that F servers do not answer"
csv = out . "/availability.csv"
# Fewer than five failures of 20000 trials say nothing.
do for [p in "0.01 0.05 0.10"] {
	set title sprintf("a server is down with p = %.0f %%", 100 * p)
	if (p eq "0.01") {set key left bottom Left reverse} else {unset key}
	plot for [i = 1:3] csv using ($2 * of(i, strcol(1)) * only(p, strcol(5))):6 \
		with lines linecolor rgb colour(i) title "n = " . word(rules, i), \
		for [i = 1:3] csv using ($2 * of(i, strcol(1)) * only(p, strcol(5))): \
		($6 * 20000 >= 5 ? $7 : NaN) with points linecolor rgb colour(i) \
		pointtype 6 pointsize 0.8 notitle, \
		keyentry with points pointtype 6 linecolor "black" title "simulated"
}
unset multiplot
