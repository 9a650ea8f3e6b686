"""A projector whose process ends on a log with many follow-ups, which comes late; it is right on all others."""

import os

from projectors.plain import Plain


class DiesOnManyFollowUps(Plain):  # type: ignore[misc]  # found by path
    def project(self, events, policies=None):
        if sum(isinstance(event, dict) and event.get("delivery") == "followUp" for event in events) > 7:
            os._exit(7)
        return super().project(events, policies)
