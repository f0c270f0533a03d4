"""Who may call the server, and what belongs to whom: for `auth` in langgraph.json.

Callers show a key (`x-api-key`, or as a bearer token) or a signed token (JWT), by settings. Threads, their
runs, assistants, schedules and the store are their user's; to another they are not there. Where neither keys
nor tokens are set, whoever calls from this machine may do everything and says who the user is; nobody else
may.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping, MutableMapping
from importlib.util import find_spec
from typing import Any

from langgraph_sdk import Auth

from taskloom.agent.settings import Settings, settings

__all__ = ["auth"]

auth = Auth()
Refused = Auth.exceptions.HTTPException

_SIGNED = ("RS256", "ES256", "EdDSA")  # with a public key
_SECRET = ("HS256",)
_RSA_BITS = 2048  # RFC 7518, section 3.3


class KeyFault(ValueError):
    """TASKLOOM_JWT_KEY holds no key that tokens can be verified with."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"TASKLOOM_JWT_KEY {why}: give a public key in PEM, for RS256, ES256 or EdDSA, all of its lines,"
            " or a secret"
        )


def check_key(given: Settings) -> None:
    """Check that tokens can be verified with the key of the settings, where there is one.

    Raises:
        ImportError: the package that reads tokens is not installed.
        KeyFault: it is a PEM of another kind, or a broken one.
    """
    if given.jwt_key is None:
        return
    if find_spec("jwt") is None:
        raise ImportError("TASKLOOM_JWT_KEY needs another package: pip install 'taskloom[server]'")
    key = given.jwt_key.get_secret_value()
    if _PEM not in key:
        return
    if "PRIVATE KEY" in key:
        raise KeyFault("is a private key, which only makes tokens: give the public one")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        public = load_pem_public_key(key.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFault("cannot be read as a public key") from None  # the library's words may hold parts of it
    if isinstance(public, rsa.RSAPublicKey) and public.key_size < _RSA_BITS:
        raise KeyFault(f"is an RSA key of less than {_RSA_BITS} bits")
    known = isinstance(public, rsa.RSAPublicKey | ed25519.Ed25519PublicKey | ed448.Ed448PublicKey) or (
        isinstance(public, ec.EllipticCurvePublicKey) and isinstance(public.curve, ec.SECP256R1)
    )
    if not known:
        raise KeyFault("is a public key of another kind")


_PEM = "-----BEGIN"
check_key(settings())  # when the server starts


@auth.authenticate
async def authenticate(
    headers: Mapping[bytes, bytes] | Mapping[str, str], scope: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The calling user, by the key or token in the request; without a name where neither is required.

    headers: in bytes from LangGraph Server, in text from Aegra. scope: of ASGI; Aegra tells none, so that it
    serves nobody without a key or a token.

    Raises:
        HTTPException: 401 without a key that is known or a token that holds; 403 from another machine where
            neither is set.
    """
    given = settings()
    if given.api_keys is None and given.jwt_key is None:
        if not _is_local(scope):
            raise Refused(403, "without TASKLOOM_API_KEYS or TASKLOOM_JWT_KEY only this machine is served")
        return {"identity": "", "is_authenticated": True}
    shown = _shown({_text(name).lower(): _text(value) for name, value in headers.items()})
    user = _by_key(shown, given) or _by_token(shown, given)
    if not user:
        raise Refused(401, "a known key is needed, as x-api-key or as a bearer token")
    return {"identity": user, "is_authenticated": True}


def _is_local(scope: Mapping[str, Any] | None) -> bool:
    """Whether a call comes from this machine; a call without an address is the server's own."""
    if scope is None:
        return False
    if not (client := scope.get("client")):
        return True
    try:
        return ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False


def _text(header: bytes | str) -> str:
    return header.decode("latin-1") if isinstance(header, bytes) else header


def _shown(headers: Mapping[str, str]) -> str:
    key = headers.get("x-api-key", "").strip()
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return key or (token.strip() if scheme.lower() == "bearer" else "")


def _by_key(shown: str, given: Settings) -> str:
    found = ""
    for user, key in given.users_by_key():  # all of them: how long it takes tells nothing
        if hmac.compare_digest(shown.encode(), key.encode()):
            found = user
    return found


def _by_token(shown: str, given: Settings) -> str:
    if given.jwt_key is None or shown.count(".") != 2:
        return ""
    import jwt

    key = given.jwt_key.get_secret_value()
    public = _PEM in key
    try:
        claims = jwt.decode(
            shown, key, algorithms=[*(_SIGNED if public else _SECRET)], audience=given.jwt_audience,
            options={"require": ["exp", "sub"], "verify_aud": given.jwt_audience is not None},
        )  # fmt: skip
    except (jwt.PyJWTError, ValueError, OverflowError):  # these of times that are none
        return ""
    user = str(claims["sub"])
    return user if user.isprintable() else ""


# ---- what belongs to whom -------------------------------------------------------------------------

_SYSTEM = {"created_by": "system"}  # the assistants that the server makes of its graphs


@auth.on
async def refuse(ctx: Auth.types.AuthContext, value: object) -> bool:  # noqa: ARG001
    """Everything that no handler below is for: refused, except to nameless callers, where no keys are set."""
    return not ctx.user.identity


@auth.on(resources=["threads", "crons"])
async def own(ctx: Auth.types.AuthContext, value: MutableMapping[str, Any]) -> dict[str, Any]:
    """Threads, their runs and schedules: only the caller's own; new ones are marked as the caller's."""
    if not ctx.user.identity:
        return {}
    _mark(ctx, value)
    return {"owner": ctx.user.identity}


@auth.on.assistants
async def own_or_given(ctx: Auth.types.AuthContext, value: MutableMapping[str, Any]) -> dict[str, Any]:
    """Assistants: the caller's own; those that the server makes of its graphs are open to all."""
    if not ctx.user.identity:
        return {}
    _mark(ctx, value)
    mine = {"owner": ctx.user.identity}
    return {"$or": [mine, _SYSTEM]} if ctx.action in ("read", "search") else mine


@auth.on.store
async def own_part(ctx: Auth.types.AuthContext, value: MutableMapping[str, Any]) -> None:
    """The store: each user has a namespace that others cannot reach."""
    if ctx.user.identity:
        value["namespace"] = (ctx.user.identity, *(value.get("namespace") or ()))


def _mark(ctx: Auth.types.AuthContext, value: MutableMapping[str, Any]) -> None:
    """Set the owner in the metadata of a request, whatever it said before."""
    if ctx.action in ("create", "update", "create_run"):
        if (metadata := value.get("metadata")) is None:
            metadata = value["metadata"] = {}
        # The server looks at the same object, also where it is empty.
        metadata.pop("created_by", None)
        metadata["owner"] = ctx.user.identity
