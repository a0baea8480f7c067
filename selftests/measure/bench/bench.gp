# SPDX-License-Identifier: GPL-2.0
width = 980; height = 1140
load dir . "/common.gp"
blue = "#0072b2"
red = "#d55e00"
set multiplot layout 3,2

set title "medians, and 99 percent; µs"
set logscale x
set xrange [10:20000]
set format x "10^{%L}"
set lmargin 22
set rmargin 3
rows = 10
set yrange [rows - 0.4:-0.6]
set ytics nomirror scale 0
set grid noytics
unset key
plot temp . "/times" using 1:0:($2 - $1):(0):ytic(3) with vectors nohead linewidth 2 \
	linecolor "#bbbbbb", "" using 1:0 with points pointtype 7 pointsize 0.9 linecolor rgb blue

set title "parts of an acquire, n = 7, traced; µs"
unset logscale x
set format x "%g"
set xrange [0:*]
rows = 5
set yrange [rows - 0.4:-0.6]
set boxwidth 0.6
plot temp . "/parts" using ($1 / 2):0:($1 / 2):(0.3):ytic(2) with boxxyerrorbars linecolor rgb blue

set title "acquire, b = 1 to 6; µs"
set lmargin 9
set xlabel "servers n = 5b + 1"
set xrange [0:32]
set yrange [0:*]
set ytics auto scale 1
set grid ytics
plot temp . "/growth" using 1:2 with linespoints linecolor rgb blue pointtype 7 pointsize 0.6

set title "a grant to each of t hosts, held for 2 ms; µs"
set xlabel "contenders t"
set logscale xy
set xrange [0.9:70]
set yrange [1000:*]
set format y "10^{%L}"
set xtics (1, 2, 4, 8, 16, 32, 64)
set key right center Right noreverse
plot temp . "/queue" using 1:2 with linespoints linecolor rgb blue pointtype 7 pointsize 0.6 \
	title "queue", temp . "/backoff" using 1:2 with linespoints linecolor rgb red \
	pointtype 5 pointsize 0.6 title "back-off, leases of 5 s", \
	2000 + hand with lines dashtype 2 linecolor "#777777" title "h + hand-over"

unset logscale
set title "where the instructions go; µs"
unset xlabel
set lmargin 22
set format x "%g"
set format y "%g"
set xtics 100
set xrange [0:*]
rows = 4
set yrange [rows - 0.4:-2.4]	# room for the legend
set style fill solid 0.6 noborder
set ytics nomirror scale 0
set grid noytics
set boxwidth 0.6
set key top right Right noreverse
array names[4] = ["client", "network and servers in the kernel", "server programs", "daemon"]
array colors[4] = ["#0072b2", "#56b4e9", "#009e73", "#d55e00"]
below(i) = i == 0 ? 0 : below(i - 1) + column(i)
plot for [i = 1:4] temp . "/where" using \
	(below(i - 1) + column(i) / 2):0:(column(i) / 2):(0.3):ytic(5) \
	with boxxyerrorbars linecolor rgb colors[i] title names[i]

set title "over one link between two VMs; µs"
set logscale x
set yrange [rows - 0.4:-0.6]
set xtics auto
set xrange [100:*]
set format x "10^{%L}"
unset key
plot temp . "/link" using 1:0:($2 - $1):(0):ytic(3) with vectors nohead linewidth 2 \
	linecolor "#bbbbbb", "" using 1:0 with points pointtype 7 pointsize 0.9 linecolor rgb blue
unset multiplot
