"""One package for each published harness: its prompts, scorers, golden cases and source.

A harness is a package here, or one that the entry-point group `gradeschool.protocols` names, with

    SCORERS: tuple[Scorer, ...]      how the harness reads and compares answers
    PROTOCOLS: tuple[Protocol, ...]  how it asks
    SOURCE.md                        repository, commit, files, version range, known quirks
    golden.jsonl                     completions with the verdicts of the real harness

It imports no other harness's package: quirks must not be shared by accident.
"""
