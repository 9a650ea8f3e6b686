"""Judge mutants by the laws: a projector of a mutated copy of the model, against the unchanged model."""

import compileall
import importlib
import json
import shutil
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec

from mutation.mutants import Mutant, change
from turncheck.adapters.protocol.errors import HangingError, ImplementationError, TargetError
from turncheck.adapters.protocol.messages import Implementation, Profile
from turncheck.adapters.protocol.projector import read_projection
from turncheck.conformance.generation.classic_logs import CLASSICS
from turncheck.conformance.laws.law import first_finding
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.outcome.results import Input
from turncheck.conformance.verify.subjects.projector import ProjectorSubject
from turncheck.conformance.verify.subjects.subject import judged, missing
from turncheck.conformance.verify.verification import verify_projector
from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

ROOT = Path(__file__).parents[3]
PACKAGE = "mutated"
"""What the copy is called: nothing of turncheck imports it."""
EXAMPLES = 20
"""Generated logs, of the command's own 300: what survives costs the most, and nearly all of it is equivalent."""
SECONDS = 30
"""Of the processor, for one face of one mutant: an unchanged one needs one."""
SURVIVED, STILLBORN = "survived", "does not start"


class TooLongError(BaseException):
    """A mutant never ends; no projector catches it."""


class Served:
    """A face as a target: values go in and come out as JSON, so that nothing of the copy reaches the judge."""

    name, last_input_changed = PACKAGE, False
    implementation = Implementation(PACKAGE, "0", "python")

    def __init__(self, face: type[Any]) -> None:
        self._face = face
        self._serving = face()
        self.profile = msgspec.convert(face.profile, Profile)

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """The projection, under the policies that are asked for."""
        chosen = msgspec.to_builtins(policies) if policies else None
        return self._answer(partial(self._serving.project, policies=chosen), events)

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events, or those from the position *start* on."""
        self._ask(self._serving.feed if start is None else partial(self._serving.feed, start=start), events)

    def fed(self) -> Projection:
        """The projection of what was fed."""
        return self._answer(self._serving.project, [])

    def reset(self) -> None:
        """Forget it."""
        self._serving.reset()

    def again(self, hash_seed: int) -> Self:
        """Another of the same: where hashes would decide, it shows nothing."""
        return type(self)(self._face)

    def close(self) -> None:
        """Nothing is left behind."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, function: Any, events: Sequence[Any]) -> Projection:
        return read_projection(msgspec.Raw(self._ask(function, events)), self.profile)

    @staticmethod
    def _ask(function: Any, events: Sequence[Any]) -> bytes:
        try:
            return msgspec.json.encode(function(json.loads(json.dumps(events))))
        except Exception as error:
            raise ImplementationError(f"{type(error).__name__}: {error}") from error


class Bench:
    """A copy of the model in *folder*, in which one module at a time is mutated.

    *examples* logs are generated. Nothing is shrunk: that a mutant is found is the point.
    """

    def __init__(self, folder: Path, examples: int = EXAMPLES) -> None:
        self.package, self.examples = folder / PACKAGE, examples
        self.laws = selected(["projector"])
        shutil.copytree(ROOT / "model", self.package / "model", ignore=shutil.ignore_patterns("__pycache__"))
        text = Path(__file__).with_name("faces.py").read_text("utf-8")
        (self.package / "faces.py").write_text(text.replace("turncheck.model", f"{PACKAGE}.model"), "utf-8")
        (self.package / "__init__.py").touch()
        compileall.compile_dir(self.package, quiet=2)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(folder))

    def source(self, module: str) -> str:
        """The text of a module of the copy."""
        return (self.package / f"{module}.py").read_text("utf-8")

    def held(self, mutant: Mutant, faces: Sequence[str]) -> tuple[str, str, str]:
        """Return a mutant's fate (the law that found it, or how it broke, or SURVIVED), and its change."""
        source = self.source(mutant.module)
        mutated = mutant.code(source)
        return self.fate(mutant.module, mutated, faces), *change(source, mutated)

    def fate(self, module: str, code: str, faces: Sequence[str]) -> str:
        """The first law that a module with this text breaks, seen through one of the *faces*."""
        path = self.package / f"{module}.py"
        before = path.read_text("utf-8")
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()  # its key is time and size alone
        path.write_text(code, "utf-8")
        try:
            return next((fate for face in faces if (fate := self.verdict(face)) != SURVIVED), SURVIVED)
        finally:
            path.write_text(before, "utf-8")

    def verdict(self, face: str) -> str:
        """Return the verdict of `verify` on a face of the copy: SURVIVED if no law is broken."""
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
        importlib.invalidate_caches()
        signal.signal(signal.SIGVTALRM, _too_long)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            try:
                target = Served(getattr(importlib.import_module(f"{PACKAGE}.faces"), face))
            except Exception:  # noqa: BLE001 - whatever importing it raises
                return STILLBORN
            classic = self.classic(target)
            if classic is not None:
                return classic
            result, found = verify_projector(target, self.laws, examples=self.examples, fail_fast=True, shrink=False)
        except TooLongError:
            return f"broke: {HangingError.__name__}"
        except TargetError as error:
            return f"broke: {type(error).__name__}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if found:
            return next(law.law for law in result.laws if law.law in found)
        return SURVIVED if result.exit_code == 0 else f"broke: {result.cut or 'a law could not be judged'}"[:80]

    def classic(self, target: Served) -> str | None:
        """The law that the first classic log breaks, None where none does: most mutants need no more of `verify`."""
        subject = ProjectorSubject(target, target)
        for case in CLASSICS:
            observation = subject.observe(Input(*case))
            assert observation is not None  # the target's input may be invalid
            for law in self.laws:
                if not missing(law, target.profile) and first_finding(judged(law, observation)) is not None:
                    return law.name
        return None


def _too_long(*_: object) -> None:
    raise TooLongError
