# SPDX-License-Identifier: GPL-2.0
width = 980; height = 860
load dir . "/common.gp"
set logscale xy
set xrange [0.9:1200]
set yrange [0.0005:20000]
set format y "10^{%L}"
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
set xlabel "contenders t"
set lmargin 9
set rmargin 2
set multiplot layout 2,2

# Least squares of c in log y = log c + log t, for t of 16 and more of what is
# drawn as Lemma 2 has it; 0, which is not drawn, when no cluster was as large.
fit_of(column) = system(sprintf( \
	"awk -F, '$1 == \"lease\" && $2 == \"paper\" && $3 >= 16 { n++; s += log($%d / $3) } END { printf \"%%.3f\", n ? exp(s / n) : 0 }' %s", \
	column, csv))
c_mean = real(fit_of(4))
c_last = real(fit_of(7))

do for [row = 1:2] {
	value = row == 1 ? 4 : 7
	set ylabel row == 1 ? "mean delay, in leases Δ" : "until all were in, in leases Δ"
	c = row == 1 ? c_mean : c_last
	do for [hold in "short lease"] {
		set title hold eq "short" ? "held for Δ/100, then released" : \
			"held for Δ, never released"
		if (row == 1 && hold eq "short") {set key} else {unset key}
		unset label
		if (hold eq "lease" && c > 0) {
			set label sprintf("dashed: %.2f Δt, Lemma 2, fitted", c) \
				at graph 0.05, 0.95 textcolor "#c00000"
		}
		plot for [i = 1:words(ways)] csv using \
			($3 * only(hold, strcol(1)) * only(word(ways, i), strcol(2))):(column(value + 1)):(column(value + 2)) \
			with filledcurves linecolor rgb colour(i) notitle, \
			for [i = 1:words(ways)] csv using \
			($3 * only(hold, strcol(1)) * only(word(ways, i), strcol(2))):(column(value)) \
			with linespoints linecolor rgb colour(i) pointtype point(i) pointsize 0.5 \
			notitle, @legend, \
			hold eq "lease" && c > 0 ? c * x : NaN with lines dashtype 2 linewidth 1.6 \
			linecolor "#c00000" notitle
	}
}
unset multiplot
