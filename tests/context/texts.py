"""Texts of each kind, and how many tokens well-known tokenizers make of them (counted once, with those tokenizers)."""

ENGLISH = """The session survives a power cut because the live file is only ever changed in two ways. Either whole
records are appended with a single write, or a complete new file takes the old one's place in one step. Nobody can
observe a state in between, so nothing has to be guessed afterwards. When the last record was torn, its line is closed
and kept, and the person in front of the screen is told what happened, in one plain sentence, with no log to read.
Going back to an earlier point never destroys anything: the future that was left behind waits in a file of its own."""

CHINESE = """会话文件只会以两种方式改变：要么一次写入若干完整的记录，要么用一个新文件整体替换旧文件。
因此无论在哪一刻断电，磁盘上留下的不是旧的状态，就是新的状态，绝不会是中间的残缺状态。如果最后一条记录被截断，程序会把这一行封好并保留下来，
同时用一句话告诉用户发生了什么。回到较早的检查点并不会删除任何内容，被放弃的那条时间线仍然保存在单独的文件里，随时可以恢复。"""

CODE = '''def rotate(folder: Path, stem: str = "context") -> Path:
    """Gives the live file a second, numbered name."""
    pattern = re.compile(rf"{re.escape(stem)}_([0-9]+)\\.jsonl")
    numbers = [int(found[1]) for entry in folder.iterdir() if (found := pattern.fullmatch(entry.name))]
    number = max(numbers, default=0) + 1
    while True:
        target = folder / f"{stem}_{number}.jsonl"
        try:
            os.link(folder / f"{stem}.jsonl", target)
        except FileExistsError:
            number += 1
            continue
        return target
'''

JSON = """{"role":"assistant","content":[{"type":"text","text":"Two tests fail."}],"tool_calls":[{"type":"function",
"id":"call_7f3a","function":{"name":"Shell",
"arguments":"{\\"command\\": \\"pytest -x tests/parser\\", \\"timeout\\": 120}"}}]}
{"role":"tool","tool_call_id":"call_7f3a","content":"exit 1","meta":{"seconds":3.25,"lines":[12,48,131],"ok":false}}
{"name":"parser","version":"1.4.2","files":["lexer.py","grammar.py","tokens.json"],"size":18342,"tags":[],"main":null}"""

COUNTS = {
    "o200k": {"english": 123, "chinese": 130, "code": 147, "json": 143},
    "cl100k": {"english": 124, "chinese": 188, "code": 147, "json": 140},
    "claude": {"english": 125, "chinese": 168, "code": 151, "json": 150},
    "deepseek": {"english": 125, "chinese": 98, "code": 152, "json": 155},
    "qwen": {"english": 124, "chinese": 113, "code": 147, "json": 150},
}

TEXTS = {"english": ENGLISH, "chinese": CHINESE, "code": CODE, "json": JSON}
