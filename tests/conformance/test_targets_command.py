"""`turncheck targets` from the outside."""

import json

from turncheck.adapters.protocol import CAPABILITIES
from turncheck.adapters.targets import KINDS


def test_every_kind_of_target_is_listed(invoke, tmp_path):
    ran = invoke(tmp_path, "targets")
    assert ran.code == 0
    assert [kind.form for kind in KINDS.values() if f"{kind.form}  " not in ran.out] == []


def test_every_capability_is_listed(invoke, tmp_path):
    out = invoke(tmp_path, "targets").out
    assert [name for name, what in CAPABILITIES.items() if f"{name:28}  {what}" not in out] == []


def test_json_is_one_array(invoke, tmp_path):
    kinds = json.loads(invoke(tmp_path, "targets", "--json").out)
    assert kinds == [{"form": kind.form, "description": kind.description} for kind in KINDS.values()]
