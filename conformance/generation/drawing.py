"""Settings of Hypothesis: it draws from the seed alone, without shrinking, which is the engine's own work."""

from typing import Any

from hypothesis import HealthCheck, Phase, settings


def drawing(examples: int, **more: Any) -> settings:
    """The settings for so many *examples*; *more* are settings of Hypothesis that a caller adds."""
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
        **more,
    )
