# SPDX-License-Identifier: GPL-2.0
# Loaded first by every NAME.gp; csv and svg are set by "run".

set terminal svg size width,height font "DejaVu Sans,14" background "#ffffff" linewidth 1.3
set output svg
set datafile separator comma
set datafile columnheaders
set datafile missing NaN	# what only() leaves out does not cut a line
set encoding utf8
set border 3 linecolor "#444444"
set tics nomirror textcolor "#222222"
set grid linecolor "#dddddd" linetype 1 linewidth 0.6
set key left top Left reverse spacing 1.05 samplen 2 noenhanced font ",12"
set style fill transparent solid 0.18 noborder

# The ways to wait: name in the CSV, title, colour, point. A new one is a word in each.
ways = "queue exponential capped square linear no-backoff paper"
array title_of[7] = ["queue (default)", "exponential", "exponential, at most 6Δ", "polynomial, s²", \
	"polynomial, s", "no backoff", "Figure 1 as printed"]
colours = "#e69f00 #0072b2 #009e73 #d55e00 #cc79a7 #777777 #000000"
points = "15 7 5 9 11 13 6"

title(i) = title_of[i]
colour(i) = word(colours, i)
point(i) = int(word(points, i))
# only(word, column): 1 where the line is about it, else undefined
only(wanted, is) = wanted eq is ? 1 : NaN

# The legend of all ways, also of those that a panel has no points of.
legend = "for [i = 1:words(ways)] keyentry with linespoints linewidth 1.5 \
	linecolor rgb colour(i) pointtype point(i) pointsize 0.6 title title(i)"
