#!/usr/bin/env python3
"""Writes the report's page, with its style and scripts, as C strings: embed_page.py OUTPUT page.html style.css FILE.js ..."""
import pathlib
import sys

LINE_BYTES = 4000  # of a C string literal: longer ones are joined from several


def literal(name: str, text: str) -> str:
    data = text.encode("utf-8")
    lines = []
    for start in range(0, len(data), LINE_BYTES):
        piece = "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
                        for byte in data[start : start + LINE_BYTES])
        lines.append(f'    "{piece}"')
    return f"const char {name}[] =\n" + "\n".join(lines) + ";\n"


def main() -> None:
    output, page_path, style_path, *script_paths = sys.argv[1:]
    page = pathlib.Path(page_path).read_text(encoding="utf-8")
    style = pathlib.Path(style_path).read_text(encoding="utf-8")
    script = "\n".join(pathlib.Path(path).read_text(encoding="utf-8") for path in script_paths)
    for name, text in (("@SCRIPT@", script), ("@STYLE@", style)):
        assert page.count(name) == 1 and "</script" not in text.lower() and "</style" not in text.lower(), name
        page = page.replace(name, text)
    head, rest = page.split("@CONNECT@")
    middle, tail = rest.split("@DATA@")
    parts = {"head": head, "middle": middle, "tail": tail}
    pathlib.Path(output).write_text('#include "cli/report/page.h"\n'
                                    + "".join("\n" + literal(f"report_page_{name}", text) for name, text in parts.items()), encoding="utf-8")


if __name__ == "__main__":
    main()
