"""One room for each published harness: its prompts, its scorers, its golden cases and its source.

A room is a package here (or one that the entry-point group `gradeschool.protocols` names) with

    SCORERS: tuple[Scorer, ...]          how the harness reads and compares answers
    PROTOCOLS: tuple[Protocol, ...]  how it asks
    SOURCE.md                        repository, commit, files, version range, known quirks
    golden.jsonl                     completions with the verdicts of the real harness

and imports no other room: quirks must not be shared by accident.
"""
