"""The campaign: thousands of hostile inputs, drawn by a seed, and kills at random instants. Nothing may break.

    python -m tests.campaign --inputs 10000 --seed 1 --kills 200 --jobs 2
    python -m tests.campaign --seed 1 --only 4711        # one input again; its folder is kept
    python -m tests.campaign --seed 1 --only-kill 17

An *input* is a folder of files and a command. It begins as a valid one: a small table of people, a release that a method
made of it or that was written by hand, a schema, a scenario, an audit record. Then it is changed in up to three places, in
its structure (a cell, a key, an option) more often than in its bytes, so that most inputs get behind the parsers.

    odd         values that nobody expects
    parts       the files of an input before they are bytes: tables, trees (TOML, JSON), texts
    changing    how parts are changed
    people      valid tables with their schemas
    notations   releases written by hand, in all notations of labels
    making      releases by the anonymizers, and audit records
    drafts      an input in the making, and the options of a command
    asking      what is asked of an audit, by options, policies and scenarios
    commands    a valid draft for each command
    generating  the input of a seed and a number
    privileges  a superuser gives up the right to write everywhere
    running     runs a command in a process of its own, in odd surroundings where the input says so
    serving     asks a server for its pages
    judging     what may come of an input, and what is a failure
    following   what must be possible after a result
    killing     kills a command, and looks at what it leaves
    telling     the tables that are printed
    campaigning all of it, from the command line to the tables

The same seed and number give the same input, whatever the number of processes.
"""
