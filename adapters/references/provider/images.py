"""Images for a provider: a pure function computes the size that fits (BED-D7); Pillow resizes the pixels."""

import base64
import io
import math
from pathlib import Path
from typing import Any, Final, NamedTuple

from turncheck.model.extras import needs_extra


class Limits(NamedTuple):
    """A provider's limits: pixels of the longer side, and bytes of the encoded file."""

    side: int
    size: int


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int


DEFAULT: Final = Limits(side=1568, size=5_000_000)
"""The limits that one large provider states for a single image; pass those of another provider."""
FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
"""The formats that providers take, by Pillow's names; another one is sent as PNG."""
SHRINK: Final = 0.9
"""Factor by which an image shrinks further if it was fitted and still has too many bytes."""


def fit(width: int, height: int, size: int, limits: Limits) -> Size:
    """The largest size of an image of *size* bytes that keeps its aspect ratio and the *limits*.

    It is never larger than the image. Bytes are assumed to grow with the area. Each side is at least one pixel.
    Raises ValueError for an empty image.
    """
    if width < 1 or height < 1:
        raise ValueError(f"no image: {width} x {height} pixels")
    scale = min(1.0, limits.side / max(width, height), math.sqrt(limits.size / max(size, 1)))
    return Size(max(1, math.floor(width * scale)), max(1, math.floor(height * scale)))


def fitted(data: bytes, limits: Limits = DEFAULT) -> bytes:
    """Return the image, resized if it exceeds a limit, as PNG if its format is not one of ``FORMATS``.

    *data* itself if it fits. A photo that says how it was held is turned upright before it is resized: what says so is
    lost. Raises MissingExtraError without the extra ``images``, and ValueError where *data* is no image that can be
    read, or no size fits the bytes.
    """
    needs_extra("images", "an image for a model")
    from PIL import Image, ImageOps  # noqa: PLC0415 - only who shows images needs it

    try:
        with Image.open(io.BytesIO(data)) as image:
            kept = image.format in FORMATS
            if kept and fit(image.width, image.height, len(data), limits) == image.size:
                return data
            upright = ImageOps.exif_transpose(image)
            kind = image.format if kept else "PNG"
    except Exception as error:  # a broken file raises whatever its decoder does
        raise ValueError("it cannot be read as an image") from error
    if not kept:
        upright = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    wanted = fit(upright.width, upright.height, len(data), limits)
    while True:
        out = io.BytesIO()
        upright.resize(wanted).save(out, format=kind)  # pyright: ignore[reportUnknownMemberType]
        if out.tell() <= limits.size:
            return out.getvalue()
        if wanted == (1, 1):
            raise ValueError(f"no size fits {limits.size} bytes")
        wanted = Size(max(1, int(wanted.width * SHRINK)), max(1, int(wanted.height * SHRINK)))


def encoded(part: dict[str, Any], directory: Path, limits: Limits = DEFAULT) -> dict[str, Any]:
    """Return the image of a message as the provider takes it (BED-013): fitted, in base64, labelled as what it is.

    The history keeps the original part: with its ``data``, or as a ``path`` in *directory*. Raises OSError where the
    file cannot be read, ValueError where the part has no image, or data that is no base64, and the errors of
    ``fitted``.
    """
    match part:
        case {"path": str(path)}:
            data = (directory / path).read_bytes()
        case {"data": str(text)}:
            data = base64.b64decode(text, validate=True)
        case _:
            raise ValueError("its part of the message has neither data nor path")
    image = fitted(data, limits)
    return {"type": "image", "mediaType": _media_type(image), "data": base64.b64encode(image).decode()}


def _media_type(data: bytes) -> str | None:
    """Return the media type that the bytes show: a provider refuses an image that is labelled as another kind."""
    from PIL import Image  # noqa: PLC0415 - only who shows images needs it

    with Image.open(io.BytesIO(data)) as image:
        return image.get_format_mimetype()
