"""Processes that work side by side: cells of a comparison, blocks of a large table.

worker      what a process does: one job after the other
pool        such processes, with limits of time and memory that really end a job
"""
