# SPDX-License-Identifier: GPL-2.0
width = 980; height = 720
load dir . "/common.gp"
set logscale x
set xrange [1:1000]
set yrange [0:1]
set xlabel "rounds until entry, the last included"
set ylabel "share of the contenders"
set lmargin 9
set rmargin 2
set multiplot layout 2,2
do for [t in "4 16 64 256"] {
	set title sprintf("t = %s contenders", t)
	if (t eq "64") {set key right bottom Right noreverse} else {unset key}
	plot for [i = 1:words(ways)] csv using \
		($3 * only(word(ways, i), strcol(1)) * only(t, strcol(2))):4 \
		with steps linewidth 1.6 linecolor rgb colour(i) notitle, @legend
}
unset multiplot
