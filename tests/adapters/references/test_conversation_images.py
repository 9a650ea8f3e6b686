"""Images in a conversation: fitted to a provider's limits, kept as they came, and sent as pixels."""

import base64
import io
import random

import pytest
from model_server import served, talk

from turncheck.adapters.references.conversation import Limits, fit
from turncheck.adapters.references.provider import images
from turncheck.adapters.references.provider.images import encoded, fitted
from turncheck.model.core.stimuli import ModelStop, User
from turncheck.model.extras import MissingExtraError

Image = pytest.importorskip("PIL.Image")

RED, BLUE = (255, 0, 0), (0, 0, 255)
END = ModelStop(reason="end-turn")
ROTATED = {0x0112: 6}
"""EXIF: a viewer turns the picture by 90° clockwise."""
WIDE = Limits(side=100, size=100_000)


def image(width, height, *, noise=False, kind="PNG", mode="RGB", **saved):
    """An image whose left half is red, and whose right half is blue; or of noise."""
    picture = Image.new("RGB", (width, height), RED)
    picture.paste(BLUE, (width // 2, 0, width, height))
    if noise:
        picture.putdata([(random.Random(at).randrange(256), at % 256, 0) for at in range(width * height)])
    out = io.BytesIO()
    picture.convert(mode).save(out, format=kind, **saved)
    return out.getvalue()


def opened(data):
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture


# ---- sizes ----


@pytest.mark.parametrize(
    ("image", "limits", "size"),
    [
        ((100, 50, 10), Limits(200, 100), (100, 50)),
        ((400, 200, 10), Limits(200, 100), (200, 100)),
        ((200, 400, 10), Limits(200, 100), (100, 200)),
        ((100, 100, 400), Limits(200, 100), (50, 50)),
        ((10_000, 1, 10), Limits(200, 100), (200, 1)),
    ],
    ids=["fits", "wide", "high", "heavy", "thin"],
)
def test_an_image_is_fitted_and_keeps_its_aspect_ratio(image, limits, size) -> None:  # BED-D7
    assert fit(image[0], image[1], image[2], limits) == size


@pytest.mark.parametrize(("width", "height"), [(0, 1), (1, 0), (-1, 1)])
def test_an_empty_image_is_an_error(width, height) -> None:
    with pytest.raises(ValueError, match="no image"):
        fit(width, height, 1, Limits(1, 1))


# ---- pixels ----


def test_a_real_image_is_resized_to_the_limits() -> None:  # BED-013d
    assert opened(fitted(image(400, 200), WIDE)).size == (100, 50)


def test_an_image_that_fits_is_left_as_it_is() -> None:
    data = image(40, 20)
    assert fitted(data) is data


def test_an_image_that_is_too_heavy_shrinks_until_it_fits() -> None:  # BED-013d
    assert len(fitted(image(60, 60, noise=True), Limits(side=100, size=2000))) <= 2000


def test_no_size_fits_no_bytes() -> None:
    with pytest.raises(ValueError, match="no size fits"):
        fitted(image(4, 4), Limits(side=100, size=1))


def test_a_photo_is_upright_after_it_was_resized() -> None:
    exif = Image.Exif()
    exif.update(ROTATED)
    small = opened(fitted(image(400, 200, kind="JPEG", exif=exif), WIDE))
    assert small.size == (50, 100)
    assert small.getpixel((25, 10))[0] > 200  # what was left is up
    assert small.getpixel((25, 90))[2] > 200


@pytest.mark.parametrize(("kind", "mode"), [("BMP", "RGB"), ("TIFF", "CMYK"), ("BMP", "P")])
def test_a_format_that_providers_do_not_take_is_sent_as_png(kind, mode) -> None:  # BED-013c
    sent = opened(fitted(image(40, 40, kind=kind, mode=mode)))
    assert (sent.format, sent.size) == ("PNG", (40, 40))
    assert sent.getpixel((5, 5)) == RED


@pytest.mark.parametrize("data", [b"", b"<svg/>", image(40, 20)[:60]], ids=["empty", "a drawing", "cut"])
def test_what_is_no_image_is_an_error(data) -> None:
    with pytest.raises(ValueError, match="cannot be read as an image"):
        fitted(data, Limits(side=10, size=100_000))


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_an_image_is_labelled_as_what_it_is_whatever_its_message_says(tmp_path, kind, media_type) -> None:  # BED-013c
    (tmp_path / "shot").write_bytes(image(40, 20, kind=kind))
    assert encoded({"type": "image", "path": "shot", "mediaType": "image/gif"}, tmp_path)["mediaType"] == media_type


# ---- in the request ----


@pytest.fixture
def runtime(tmp_path):
    with served(tmp_path, Limits(side=20, size=100_000)) as target:
        yield target


def sent(runtime, *parts):
    """Send a message of parts; return the parts that the server received."""
    talk(runtime, [END], message=User(id="u1", text="see", content=[{"type": "text", "text": "see"}, *parts]))
    text, *others = runtime.server.seen[0].json["messages"][0]["content"]
    assert text == {"type": "text", "text": "see"}
    return others


def pixels(part):
    """Return the media type and the image of a part that the server received."""
    label, _, data = part["image_url"]["url"].partition(";base64,")
    return label.removeprefix("data:"), opened(base64.b64decode(data, validate=True))


def test_the_server_receives_an_image_as_pixels_within_the_limits(runtime, tmp_path) -> None:
    """BED-013a, BED-013c, BED-013d."""
    (tmp_path / "shot.png").write_bytes(image(80, 40))
    (part,) = sent(runtime, {"type": "image", "path": "shot.png"})
    label, received = pixels(part)
    assert (label, received.format, received.size) == ("image/png", "PNG", (20, 10))
    assert (received.getpixel((2, 5)), received.getpixel((17, 5))) == (RED, BLUE)


def test_the_server_receives_an_image_that_came_with_its_pixels(runtime) -> None:  # BED-013a, BED-013c, BED-013d
    data = base64.b64encode(image(40, 80, kind="JPEG", quality=95)).decode()
    (part,) = sent(runtime, {"type": "image", "mediaType": "image/jpeg", "data": data})
    label, received = pixels(part)
    assert (label, received.format, received.size) == ("image/jpeg", "JPEG", (10, 20))
    assert received.getpixel((1, 10))[0] > 200
    assert received.getpixel((8, 10))[2] > 200


def test_an_image_that_fits_arrives_byte_by_byte(runtime) -> None:
    data = base64.b64encode(image(20, 20)).decode()
    (part,) = sent(runtime, {"type": "image", "data": data})
    assert part["image_url"]["url"] == f"data:image/png;base64,{data}"


def test_several_images_arrive_in_their_order_with_the_next_message_too(runtime, tmp_path) -> None:
    for name, size in (("one.png", (4, 4)), ("two.png", (6, 6))):
        (tmp_path / name).write_bytes(image(*size))
    sent(runtime, *({"type": "image", "path": name} for name in ("one.png", "two.png")))
    talk(runtime, [END], message=User(id="u2", text="again"))
    for seen in runtime.server.seen:
        assert [pixels(part)[1].size for part in seen.json["messages"][0]["content"][1:]] == [(4, 4), (6, 6)]


def test_the_history_keeps_the_reference_and_the_awaited_request_counts_it(runtime, tmp_path) -> None:
    """BED-013a, BED-013b."""
    (tmp_path / "shot.png").write_bytes(image(40, 20))
    part = {"type": "image", "path": "shot.png"}
    sent(runtime, part)
    assert runtime.log[0]["content"][1] == part
    assert runtime.log[1]["input"] == [{"role": "user", "text": "see", "images": 1, "ids": ["u1"]}]


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({"path": "absent.png"}, "No such file or directory"),
        ({"data": "no base64!"}, "base64"),
        ({"data": base64.b64encode(b"text").decode()}, "it cannot be read as an image"),
        ({}, "neither data nor path"),
    ],
    ids=["absent", "no base64", "no image", "nothing"],
)
def test_an_image_that_cannot_be_read_is_told_in_words_and_the_turn_goes_on(runtime, part, why) -> None:
    (told,) = sent(runtime, {"type": "image", **part})
    assert told["type"] == "text"
    assert told["text"].startswith("[an image that cannot be shown: ")
    assert why in told["text"]
    assert runtime.log[-1]["reason"] == "completed"


def test_without_the_extra_the_error_names_it(runtime, tmp_path, monkeypatch) -> None:
    def missing(extra, purpose):
        raise MissingExtraError(extra, purpose)

    monkeypatch.setattr(images, "needs_extra", missing)
    (tmp_path / "shot.png").write_bytes(image(4, 4))
    runtime.apply(User(id="u1", text="see", content=[{"type": "image", "path": "shot.png"}]))
    stop = runtime.wait(20).events[-1]
    assert (stop["reason"], "turncheck[images]" in stop["detail"]) == ("error", True)
    assert runtime.server.seen == []
