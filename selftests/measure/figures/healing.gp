# SPDX-License-Identifier: GPL-2.0
width = 760; height = 460
load dir . "/common.gp"
set logscale x
set format x "10^{%L}"
set xrange [1e-5:3]
set yrange [0:1.02]
set xlabel "from the end of all faults to entry, in bounds 10(Δ + 2δ)"
set ylabel "share of the trials"
set arrow from 1, 0 to 1, 1.02 nohead linewidth 1.6 dashtype 2 linecolor "#c00000"
set label "bound" at 0.9, 0.06 right textcolor "#c00000"
settings = "partitions-queue partitions faults-queue faults"
array name[4] = ["partitions, queue (default)", "partitions, backoff at most 6Δ", \
	"all faults and liars, queue (default)", "all faults and liars, backoff at most 6Δ"]
plot for [i = 1:4] csv using ($2 * only(word(settings, i), strcol(1))):3 \
	with lines linewidth 1.8 dashtype i % 2 ? 3 : 1 \
	linecolor rgb i < 3 ? "#0072b2" : "#d55e00" title name[i]
