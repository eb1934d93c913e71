"""What a plugin can offer. Each hook returns frozen objects; none has side effects."""

from __future__ import annotations

import pluggy

hookspec = pluggy.HookspecMarker("alignsim")
hookimpl = pluggy.HookimplMarker("alignsim")
