# SPDX-License-Identifier: GPL-2.0
width = 980; height = 480
load dir . "/common.gp"
set logscale x
set xrange [0.3:100000]
set format x "10^{%L}"
set lmargin 48
set rmargin 3
set xlabel "mean delay, in δ (Δ = 1000 δ)"
set key center top horizontal outside
stats csv using 2 nooutput
rows = STATS_records
set yrange [rows - 0.4:-0.6]
set ytics nomirror scale 0 ()
set grid noytics
set for [i = 0:rows - 1] ytics add ("" i)
plot csv using 2:0:($5 - $2):(0):ytic(1) with vectors nohead linewidth 2 linecolor "#bbbbbb" notitle, \
	csv using 2:0 with points pointtype 7 pointsize 0.9 linecolor "#0072b2" title "with", \
	csv using 5:0 with points pointtype 6 pointsize 0.9 linecolor "#d55e00" title "without", \
	csv using ($5 > $2 ? $5 : $2):0:(sprintf($5 / $2 < 10 ? "×%.2f" : "×%.0f", $5 / $2)) \
	with labels left offset 1.2, 0 notitle
