"""Write what comes from the code, documents and the version in manifests: `make docs`."""

from tests.reference.pages import PAGES, ROOT


def main() -> None:
    """Write each file that has changed and name it."""
    for name, page in PAGES.items():
        path, text = ROOT / name, page()
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
