"""The paths that the sources draw or list: the one place to add one."""

from collections.abc import Mapping
from typing import Final

from . import conversation_path, engine_path, event_flow_path, request_cycle_path, turn_path
from .path import Path

PATHS: Final[Mapping[str, Path]] = {
    path.machine.name: path
    for path in (
        request_cycle_path.PATH,
        turn_path.PATH,
        event_flow_path.PATH,
        conversation_path.PATH,
        engine_path.PATH,
    )
}
"""Machine → its path, in the order of the sources."""
