"""Anonymizing in blocks of rows: a large table is cut first, an exact method works in each block, and one release is made.

cutting     the blocks: cuts along the columns that spread widest, none too small for the promise
joining     the groups of the blocks as groups of the whole table
running     the blocks in this process, in several, or on Spark
on_spark    the last of these
weighing    what the cuts cost: the loss beside that of the run without blocks
"""
