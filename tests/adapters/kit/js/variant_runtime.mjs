// Only hello and reset: which variant is it, and what does it declare?
import { serve } from "../../../../adapters/kit/turncheck_kit.mjs";

serve({
  implementation: { name: "variant-runtime", version: "1.0", language: "javascript" },
  profile: { capabilities: ["abort"], policies: { busy: "reject", abortEnds: "at-once" } },
  variants: { "abort=api": {}, "abort=task": { capabilities: [], policies: { abortEnds: "when-released" } } },
  reset(env) {
    env.log({ type: "native", variant: env.variant });
  },
  user() {},
});
