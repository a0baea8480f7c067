# SPDX-License-Identifier: GPL-2.0
width = 980; height = 1060
load dir . "/common.gp"

# A line has figure, protocol, least and most ms of a message, what is varied, and the result.
of(figure, protocol, least) = only(figure, strcol(1)) * only(protocol, strcol(2)) * \
	only(least, strcol(3))
protocols = "theory ours sigma strawman"
array shown[4] = ["what theory allows", "ours", "Sigma as printed", "strawman"]
figures = "7 7 7 3"
colours = "#777777 #c00000 #e69f00 #d55e00"
points = "0 13 5 14"
ratios = "0.625 0.750 0.875"
set lmargin 9
set rmargin 2
set multiplot layout 3,2

set title "two clients are inside, t / T = 1/1,000"
set logscale y
set yrange [1e-70:1]
set ytics ("1" 1, "10^{-20}" 1e-20, "10^{-40}" 1e-40, "10^{-60}" 1e-60)
set xlabel "servers, n"
set xrange [4:36]
set ylabel "chance"
set key left bottom Left reverse
plot for [i = 1:3] csv using ($5 * of("2", "m/n=" . word(ratios, i), "0")):6 \
	with linespoints linecolor rgb colour(i + 1) pointtype point(i + 1) pointsize 0.7 \
	title "m / n = " . word(ratios, i)
unset logscale y
set ytics auto

set xrange [0:8.3]
set yrange [0:6]
set xlabel "clients that come in a second"
set ylabel "entries in a second"
do for [least in "100 50 0"] {
	set title sprintf("n = 31, m = 24; a message takes %s to %d ms", least, 200 - least)
	if (least eq "100") {set key left top Left reverse} else {unset key}
	plot for [i = 1:4] csv using \
		($5 * of(word(figures, i), word(protocols, i), least)):6 \
		with linespoints linecolor rgb colour(i) pointtype point(i) pointsize 0.7 \
		title shown[i]
}

set title "ours, servers that forget; 4 clients come in a second"
set logscale x
set xrange [20:15000]
set yrange [0:4.5]
set xlabel "mean lifetime of a server, s"
plot csv using ($5 * of("8", "ours", "0")):6 with linespoints linecolor rgb colour(2) \
	pointtype point(2) pointsize 0.7 notitle
unset multiplot
