"""Read the body of an HTTP request: within a limit, and to its end before it is refused.

A connection that is closed while its client still sends is reset, and the client may never see why it was refused.
"""

from __future__ import annotations

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from excam.core.listening import SENDING

DISCARDED = 8  # times the limit: what is read and dropped of a larger body, before its connection is closed


async def read(request: Request, largest: int, expected: str) -> bytes:
    """Return the body, of at most `largest` bytes, counted as they come since the header may be wrong.

    Raise HTTPException: 413 for a larger body (`expected` is the end of its line), 408 if it takes longer than
    `SENDING` seconds, 400 if the client goes away.
    """
    body, size = bytearray(), 0
    try:
        with anyio.fail_after(SENDING):
            async for piece in request.stream():
                size += len(piece)
                if size <= largest:
                    body += piece
                elif size > DISCARDED * largest:
                    break
    except TimeoutError:
        raise HTTPException(408, f"no whole request in {SENDING} s; send it again", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "no whole request; send it again") from None
    if size > largest:
        raise HTTPException(413, f"more than {largest} bytes; expected {expected}", {"Connection": "close"})
    return bytes(body)
