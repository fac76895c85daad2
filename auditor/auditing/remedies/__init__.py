"""Remedies: what would make a release pass a policy that it fails.

coarsening     the labels of one column, one level coarser
mending        a release with dropped and coarser columns and suppressed classes and rows
drivers        which classes make a check fail
search         the remedies that are tried on a failing release, the best first
command_lines  the command that carries out a remedy
"""
