"""Measures one thing once, in a process of its own: `worker.py ENGINE WHAT FILE`. Prints one JSON line.

Runs under two interpreters: this project's, and the one that kimi-cli is installed in. It imports nothing of ours
unless `ENGINE` is `ours`.
"""

import asyncio
import gc
import json
import os
import statistics
import sys
import time
from pathlib import Path

STEPS = 300
AGAIN = 15


def engine(name):
    if name == "peer":
        import logging

        from kimi_cli.soul.context import Context
        from kosong.message import Message
        from loguru import logger

        logging.disable(logging.CRITICAL)
        logger.remove()
        return Context, Message
    from kimi_tui.context import Context, Message

    return Context, Message


def resident():
    """Bytes of memory that are really used."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


async def restored(make, file):
    context = make(file)
    await context.restore()
    return context


async def restore(make, message, file):
    start = time.perf_counter()
    await restored(make, file)
    return {"seconds": time.perf_counter() - start}


async def reopen(make, message, file):
    """A file that was opened and closed before."""
    context = await restored(make, file)
    if hasattr(context, "close"):
        await context.close()
    del context
    gc.collect()
    return await restore(make, message, file)


async def materialise(make, message, file):
    start = time.perf_counter()
    context = await restored(make, file)
    for each in context.history:
        assert each.role
    return {"seconds": time.perf_counter() - start}


async def memory(make, message, file):
    await restored(make, file.with_name("none.jsonl"))
    before = resident()
    context = await restored(make, file)
    return {"bytes": resident() - before, "messages": len(context.history)}


async def stall(make, message, file):
    worst = 0.0

    async def tick():
        nonlocal worst
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.002)
            now = time.perf_counter()
            worst, last = max(worst, now - last - 0.002), now

    ticker = asyncio.ensure_future(tick())
    await asyncio.sleep(0.05)
    await restored(make, file)
    await asyncio.sleep(0.01)
    ticker.cancel()
    return {"seconds": worst}


def revert(where):
    async def measure(make, message, file):
        context = await restored(make, file)
        target = {"last": context.n_checkpoints - 1, "mid": context.n_checkpoints // 2, "first": 0}[where]
        start = time.perf_counter()
        await context.revert_to(target)
        return {"seconds": time.perf_counter() - start}

    return measure


async def clear(make, message, file):
    context = await restored(make, file)
    start = time.perf_counter()
    await context.clear()
    return {"seconds": time.perf_counter() - start}


async def prepend(make, message, file):
    context = make(file)
    start = time.perf_counter()
    await context.write_system_prompt("You help. " * 300)
    return {"seconds": time.perf_counter() - start}


async def compact(make, message, file):
    context = await restored(make, file)
    kept = [message(role="user", content="summary " * 400), *list(context.history)[-2:]]
    start = time.perf_counter()
    if hasattr(context, "rewrite"):
        await context.rewrite("compact", keep_until=None, system_prompt="P", checkpoint=True, messages=kept, usage=1000)
    else:
        await context.clear()
        await context.write_system_prompt("P")
        await context.checkpoint(False)
        await context.append_message(kept)
        await context.update_token_count(1000)
    return {"seconds": time.perf_counter() - start}


def warm(cold):
    """The same as often as `AGAIN`, in one process, each time with the file as it was."""

    async def measure(make, message, file):
        session, took = file.read_bytes(), []
        for number in range(AGAIN):
            fresh = file.parent / str(number) / file.name
            fresh.parent.mkdir()
            fresh.write_bytes(session)
            on_disk(fresh)
            took.append((await cold(make, message, fresh))["seconds"])
        return {"seconds": statistics.median(took)}

    return measure


def on_disk(file):
    """A session that is opened was written long ago."""
    for each in (file, file.parent):
        fd = os.open(each, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


def step(sync):
    async def measure(make, message, file):
        context = make(file.with_name("steps.jsonl"))
        await context.restore()
        assistant, result = message(role="assistant", content="a" * 300), message(role="tool", content="t" * 8000)
        took = []
        for number in range(STEPS):
            start = time.perf_counter()
            await context.checkpoint(False)
            await context.update_token_count(number)
            await context.append_message(assistant)
            await context.update_token_count(number)
            await context.append_message([result])
            if sync and hasattr(context, "sync"):
                await context.sync()
            took.append(time.perf_counter() - start)
        return {"seconds": statistics.median(took), "p99": sorted(took)[-STEPS // 100]}

    return measure


MEASURES = {
    "restore": restore,
    "warm restore": warm(restore),
    "reopen": reopen,
    "warm reopen": warm(reopen),
    "restore + read all": materialise,
    "memory": memory,
    "stall": stall,
    "revert(last)": revert("last"),
    "warm revert(last)": warm(revert("last")),
    "revert(mid)": revert("mid"),
    "revert(0)": revert("first"),
    "clear": clear,
    "prepend": prepend,
    "compact": compact,
    "step": step(False),
    "step + fdatasync": step(True),
}

if __name__ == "__main__":
    name, what, file = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    make, message = engine(name)
    on_disk(file)
    print(json.dumps(asyncio.run(MEASURES[what](make, message, file))))
