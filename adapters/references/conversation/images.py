"""Images for a provider: what size fits is a pure function (BED-D7); the shell does the pixels, with Pillow."""

import base64
import io
import math
from pathlib import Path
from typing import Any, Final, NamedTuple

from turncheck.model.extras import needs_extra


class Limits(NamedTuple):
    """What a provider takes: pixels of the longer side, and bytes of the encoded file."""

    side: int
    size: int


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int


DEFAULT: Final = Limits(side=1568, size=5_000_000)
"""The sizes that one large provider states for a single image; others pass their own."""
SHRINK: Final = 0.9
"""By how much an image shrinks that was fitted and is too large in bytes all the same."""


def fit(width: int, height: int, size: int, limits: Limits) -> Size:
    """The largest size of an image of *size* bytes that keeps its aspect ratio and the *limits*.

    It is never larger than the image is. Bytes are taken to grow with the area. Each side is at least one pixel.
    Raises ValueError for an empty image.
    """
    if width < 1 or height < 1:
        raise ValueError(f"no image: {width} x {height} pixels")
    scale = min(1.0, limits.side / max(width, height), math.sqrt(limits.size / max(size, 1)))
    return Size(max(1, math.floor(width * scale)), max(1, math.floor(height * scale)))


def fitted(data: bytes, limits: Limits = DEFAULT) -> bytes:
    """The image, resized where a limit wants it, in its own format; *data* itself where it fits.

    Raises MissingExtraError without the extra ``images``, PIL.UnidentifiedImageError where *data* is no image, and
    ValueError where no size fits the bytes.
    """
    needs_extra("images", "an image for a model")
    from PIL import Image  # noqa: PLC0415 - only who shows images needs it

    with Image.open(io.BytesIO(data)) as image:
        wanted = fit(image.width, image.height, len(data), limits)
        if wanted == image.size:
            return data
        while True:
            out = io.BytesIO()
            image.resize(wanted).save(out, format=image.format)  # pyright: ignore[reportUnknownMemberType]
            if out.tell() <= limits.size:
                return out.getvalue()
            if wanted == (1, 1):
                raise ValueError(f"no size fits {limits.size} bytes")
            wanted = Size(max(1, int(wanted.width * SHRINK)), max(1, int(wanted.height * SHRINK)))


def encoded(part: dict[str, Any], directory: Path, limits: Limits = DEFAULT) -> dict[str, Any]:
    """A part of a message as the provider wants it (BED-013): an image fitted, in base64.

    The history keeps it as it came: with its ``data``, or as a ``path`` in *directory*. Raises OSError where the file
    cannot be read, ValueError where the data is no base64, and what ``fitted`` does.
    """
    if part.get("type") != "image":
        return part
    data = (directory / part["path"]).read_bytes() if "path" in part else base64.b64decode(part["data"], validate=True)
    image = fitted(data, limits)
    return {
        "type": "image",
        "mediaType": part.get("mediaType") or _media_type(image),
        "data": base64.b64encode(image).decode(),
    }


def _media_type(data: bytes) -> str | None:
    """What the bytes are: a provider refuses an image that is labelled as another kind."""
    from PIL import Image  # noqa: PLC0415 - only who shows images needs it

    with Image.open(io.BytesIO(data)) as image:
        return image.get_format_mimetype()
