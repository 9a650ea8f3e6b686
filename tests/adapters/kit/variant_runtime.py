"""A runtime in two variants: with ``abort=task``, an abort forgets the calls that it cuts, and ends when released."""

from typing import ClassVar

from null_runtime import NullRuntime, Session
from turncheck_kit import serve


class ForgetsCutCalls(Session):  # type: ignore[misc]  # found by path
    """A cancelled task ends at once, and leaves its calls open."""

    def abort(self):
        if self.run:
            self.run.open.clear()
        super().abort()


class InVariants(NullRuntime):  # type: ignore[misc]  # as above
    implementation: ClassVar = {"name": "variant-runtime", "version": "1.0", "language": "python"}
    profile: ClassVar = {**NullRuntime.profile, "capabilities": ["follow-up", "abort", "tools", "model-input"]}
    variants: ClassVar = {"abort=api": {}, "abort=task": {"policies": {"abortEnds": "when-released"}}}

    def reset(self, env):
        super().reset(env)
        env.log({"type": "native", "variant": env.variant})

    def _session(self, stimulus):
        name = stimulus.get("sessionId")
        if name not in self.sessions:
            made = ForgetsCutCalls if self.env.variant == "abort=task" else Session
            self.sessions[name] = made(self.env, name)
        return self.sessions[name]


if __name__ == "__main__":
    serve(InVariants())
