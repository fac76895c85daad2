"""Posterior: matching, and the beliefs that feed all attacks. The only home of this mathematics.

In code a class is called a *bucket*, the term of the slicing paper: `class` is a keyword.
"""
