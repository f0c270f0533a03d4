"""onnxruntime sends telemetry unless the environment forbids it at import time; this forbids it before."""

from __future__ import annotations

import logging
import os
import sys

SWITCH = "ORT_DISABLE_TELEMETRY"

_log = logging.getLogger(__name__)


def switch_off() -> bool:
    """Set the switch, unless the environment sets it either way; whether that was in time."""
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
