"""The clauses that the logs of ``teaching_examples.LINES`` break, each with the law that falls."""

CLAUSES = {
    "malformed": ("RC-D5",),
    "unknown-type": ("RC-1",),
    "outside-run": ("RC-7.4", "X-3"),
    "unknown-call": ("X-6",),
    "duplicate-result": ("X-6",),
    "duplicate-call": ("RC-D4",),
    "unanswered-call": ("X-6",),
    "truncated": ("RC-5.3",),
}
