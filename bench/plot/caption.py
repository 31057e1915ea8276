# SPDX-License-Identifier: GPL-2.0
"""What stands below a figure: what it was measured with, in lines that fit its width."""
import textwrap

SIZE = 6.5                      # points
# Of a letter, on the average, and of a line, in points; what a figure leaves at its sides.
LETTER, LINE, MARGIN = 3.5, 9, 12
LEGEND = 20                     # points of a legend in one line


def wrapped(text, inches):
    """Lines for a figure so many inches wide; lines of text stay lines."""
    room = int((inches * 72 - MARGIN) / LETTER)
    return [part for line in text.split("\n")
            for part in textwrap.wrap(line, room, break_long_words=False,
                                      break_on_hyphens=False) or [""]]


def below(figure, text, above=0):
    """Put it there, and lay out the rest between it and so many points above all panels."""
    width, height = figure.get_size_inches()
    lines = wrapped(text, width)
    figure.text(0.01, 3 / (72 * height), "\n".join(lines), fontsize=SIZE, color="#505050",
                va="bottom")
    bottom = (LINE * len(lines) + 6) / (72 * height)
    figure.set_layout_engine("constrained", h_pad=0.09, w_pad=0.08,
                             rect=(0, bottom, 1, 1 - bottom - above / (72 * height)))
