"""onnxruntime reports home unless the environment says otherwise when it is imported: see to that before."""

from __future__ import annotations

import logging
import os
import sys

SWITCH = "ORT_DISABLE_TELEMETRY"

_log = logging.getLogger(__name__)


def switch_off() -> bool:
    """Set the switch, unless the environment has it set either way; whether that comes in time."""
    if os.environ.get(SWITCH):
        return True
    os.environ[SWITCH] = "1"
    if "onnxruntime" not in sys.modules:
        return True
    _log.warning("onnxruntime was imported before Taskloom and reports home: start with %s=1", SWITCH)
    return False


def wanted() -> bool:
    """Whether the environment asks for the reports."""
    return os.environ[SWITCH].strip().lower() not in ("1", "true", "yes", "on")


IN_TIME = switch_off()
