# SPDX-License-Identifier: GPL-2.0
width = 860; height = 480
load dir . "/common.gp"

# Protocols in the order of the table, with a colour and a point each.
names = "central ring ricart maekawa sanders strawman sigma contend kim ours"
array shown[10] = ["central server", "ring, N = 64", "Ricart and Agrawala, N = 64", \
	"Maekawa as printed, N = 64", "Sanders, N = 64", "strawman", "Sigma, repaired", \
	"contend", "Kim and Manabe", "ours"]
colours = "#777777 #cc79a7 #56b4e9 #000000 #009e73 #d55e00 #e69f00 #882255 #0072b2 #c00000"
points = "4 6 8 10 12 14 5 7 9 13"

set logscale x
set xrange [0.9:75]
set yrange [0:550]
set xtics (1, 4, 16, 64)
set xlabel "contenders"
set ylabel "entries in 1,000 units of time"
set key outside right top
plot for [i = 1:10] csv using ($2 * only(word(names, i), strcol(1))):3 \
	with linespoints linecolor rgb colour(i) pointtype point(i) pointsize 0.7 title shown[i]
