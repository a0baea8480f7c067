# SPDX-License-Identifier: GPL-2.0
width = 760; height = 460
load dir . "/common.gp"
set logscale xy
set format x "10^{%L}"
set yrange [0.1:100000]
set format y "10^{%L}"
set xrange [0.7:1500000]
set xlabel "registered clients that are idle"
set ylabel "mean delay, in δ (Δ = 1000 δ)"
set key right center Right noreverse
plot for [i = 1:3] csv using ($2 * only(word("1 4 16", i), strcol(1))):3:4:5 \
	with yerrorlines linecolor rgb word("#0072b2 #d55e00 #009e73", i) \
	pointtype 7 pointsize 0.6 title word("one 4 16", i) . " contending"
