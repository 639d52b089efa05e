"""`make docs`: writes the generated parts of README.md. `--check` only says whether they are fresh."""

from __future__ import annotations

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = os.path.join(ROOT, "README.md")
sys.path.insert(0, ROOT)


def parts() -> dict[str, str]:
    """The generated parts by their names in the README's markers."""
    from caffe_guard.cli.rules import markdown_table
    from caffe_guard.schema.dialects import DIALECTS

    names = ", ".join(f"`{name}` ({title})" for name, title in DIALECTS.items())
    return {"rules": markdown_table(), "dialects": f"{names}.\n"}


def fresh(text: str) -> str:
    """The README with its generated parts replaced."""
    for name, part in parts().items():
        begin, end = f"<!-- {name}: written by make docs -->\n", f"<!-- end of {name} -->"
        before, found, rest = text.partition(begin)
        if not found or end not in rest:
            raise SystemExit(f"README.md has no part {name!r}")
        text = before + begin + part + rest[rest.index(end) :]
    return text


def main() -> int:
    with open(README, encoding="utf-8") as stream:
        text = stream.read()
    new = fresh(text)
    if "--check" in sys.argv:
        if new != text:
            print("README.md is stale: run make docs", file=sys.stderr)
            return 1
        return 0
    with open(README, "w", encoding="utf-8") as stream:
        stream.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
