"""How sphinx builds the site: `make site`, into build/site, where a warning is an error.

The source folder is the project's root, so that a link between pages, or to a picture or a source file, is the same
here and where the repository is browsed.
"""

import sys
from importlib.metadata import version as installed
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # registry_pages

project = "turncheck"
author = "the turncheck authors"
version = release = installed("turncheck")

extensions = ["myst_parser", "sphinx_click", "registry_pages"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "diagrams/*.md", "tests/recordings/*.md"]
exclude_patterns = [".*", "build", "dist", "**/node_modules", "**/__pycache__"]
myst_heading_anchors = 4
smartquotes = False  # two hyphens begin an option
default_role = "code"  # docstrings of commands quote with one backtick

suppress_warnings = [
    "misc.highlighting_failure",  # JSON that is shown with an ellipsis is not JSON
    "myst.header",  # the same: its sections are of the third level
]

html_theme = "furo"
html_title = f"turncheck {release}"
html_show_copyright = False
html_copy_source = False


def _name_folders(app: Sphinx, doctree: nodes.document) -> None:
    """A link to a folder of the repository becomes its name alone: the site has no listings."""
    page = DOCS.parent / app.env.docname
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link["reftarget"] and (page.parent / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def _entitle(_app: Sphinx, name: str, source: list[str]) -> None:
    """The matrix is made to be put into other pages, and has no title of its own."""
    if name == "docs/matrix/matrix":
        source[0] = f"# The matrix\n\n{source[0]}"


def _front_door(app: Sphinx, error: Exception | None) -> None:
    """The root of the site leads to the first page."""
    if error is None:
        page = f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html"><title>{project}</title>\n'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Called by sphinx."""
    app.connect("source-read", _entitle)
    app.connect("doctree-read", _name_folders)
    app.connect("build-finished", _front_door)
