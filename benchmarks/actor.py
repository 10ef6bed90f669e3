"""Does a list of changes with one engine and tells the result: `actor.py ENGINE`, one JSON job a line on stdin.

A job is `{"file", "changes": [[name, …], …]}`; the answer is what the context says of itself afterwards, or the
error that opening it raised. Runs under this project's interpreter and under kimi-cli's.
"""

import asyncio
import json
import sys
from pathlib import Path

from worker import engine


async def do(context, message, change):
    name, *args = change
    if name == "append":
        await context.append_message([message.model_validate(each) for each in args[0]])
    elif name == "usage":
        await context.update_token_count(args[0])
    elif name == "checkpoint":
        await context.checkpoint(args[0])
    elif name == "prompt":
        await context.write_system_prompt(args[0])
    elif name == "clear":
        await context.clear()
    elif name == "revert":
        try:
            await context.revert_to(args[0])
        except ValueError:
            return


def told(context):
    return {
        "history": [each.model_dump(exclude_none=True) for each in context.history],
        "token_count": context.token_count,
        "n_checkpoints": context.n_checkpoints,
        "system_prompt": context.system_prompt,
    }


async def job(make, message, task):
    context = make(Path(task["file"]))
    try:
        await context.restore()
    except Exception as error:
        return {"error": type(error).__name__}
    for change in task["changes"]:
        await do(context, message, change)
    answer = told(context)
    if hasattr(context, "close"):
        await context.close()
    return answer


async def main():
    make, message = engine(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(await job(make, message, json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
