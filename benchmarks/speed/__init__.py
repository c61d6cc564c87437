"""Time and memory of the losses against plain cross entropy and against what others offer.

Every time is a forward and a backward pass. The contenders of a table take turns in one process,
after a warm-up; a ratio is taken within a turn, and the median and the quartiles of the ratios are
shown, because a machine that is slow for a moment is slow for all of them. Every peak of memory is
that of a fresh process: by how much its resident size grew over what its inputs take.
"""
