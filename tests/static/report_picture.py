"""The picture of a report for the README: the first failure of a page, as Debian's Chromium shows it.

turncheck verify pi@0.87.1 --report html=report.html
python tests/static/report_picture.py report.html docs/pictures/report.png
"""

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

COLOURS = 64
"""More than the page has, but for the edges of its letters."""


def run(page_file: str, picture: str) -> None:
    """Take the picture, from the failure's heading to the end of its sequence picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1360, "height": 900}, color_scheme="light")
        page.goto(Path(page_file).resolve().as_uri())
        top = page.locator("#failure-1").bounding_box()
        last = page.locator("#failure-1 .sequence").bounding_box()
        assert top is not None
        assert last is not None
        height = last["y"] + last["height"] + 16 - top["y"]
        taken = page.screenshot(full_page=True, clip={**top, "height": height})
        browser.close()
    Image.open(BytesIO(taken)).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    run(*sys.argv[1:])
