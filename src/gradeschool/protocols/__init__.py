"""One package for each published harness: its prompts, scorers, golden cases and source.

A harness is a package here, or one named by the entry-point group `gradeschool.protocols`, with

    SCORERS: tuple[Scorer, ...]      how the harness extracts and compares answers
    PROTOCOLS: tuple[Protocol, ...]  how it prompts and decodes
    SOURCE.md                        repository, commit, files, version range, known quirks
    golden.jsonl                     completions with the verdicts of the real harness

It does not import another harness's package: quirks must not be shared by accident.
"""
