from parser import parse

assert parse("a = 1") == {"a": "1"}
assert parse("url = http://x?a=b") == {"url": "http://x?a=b"}, "a value may hold an equals sign"
print("2 checks passed")
