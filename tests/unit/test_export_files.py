"""Files in exports: listed at their message, their texts where they can break nothing, redacted on wish."""

import json
import re
from base64 import b64decode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from markdown_it import MarkdownIt
from tests.fixtures.attached import (
    CONTENTS,
    MESSAGES,
    NEW,
    OLD,
    PATH,
    PICTURE,
    WORD,
    WORD_TEXT,
    named,
    question,
    with_files,
)
from tests.fixtures.pages import conversation_of

from conversation_mcp.conversations.attached import SHOWN_FILES
from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.exporting.catalog import FormatName, export_format
from conversation_mcp.exporting.redaction import redacted
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.transcript import contents_named_in

PIECES = st.sampled_from(
    ("```", "````", "`", "~~~", "\n", "\r", " ", "a", "# ", "## Answer 1", "<!--", "</code>", "*[", "\0")
)
KEY = "pplx-0123456789abcdefghij"


def exported(name: FormatName, **facts: object) -> str:
    return export_format(name).render(with_files(**facts), CONTENTS)


def test_markdown_lists_files_at_their_message_and_shows_each_text_once() -> None:
    page = exported("markdown").partition("## Question 1")[2]
    assert page == snapshot("""\


What is wrong?

Files:

- /home/me/src/add.py · 34 bytes · sent whole
- /home/me/letter.docx · 10 bytes · sent whole

/home/me/src/add.py · 34 bytes · sent whole:

```
def add(a, b):\r
    return a - b\r
```

/home/me/letter.docx · 10 bytes · sent whole:

```
The text of it.
```

## Answer 1

The sign.

## Question 2

And now?

Files:

- /home/me/src/add.py · 44 bytes · changes sent · changed since message 1
- /home/me/.env · not sent · may hold secrets
- /home/me/shot.png · 4 by 3 · 12 bytes · sent whole

/home/me/src/add.py · 44 bytes · changes sent · changed since message 1:

```
def add(a, b):  # größer
    return a + b
```

## Answer 2

Right.
""")


def test_html_folds_the_texts() -> None:
    page = exported("html")
    assert page.count('<li dir="auto">/home/me/') == 5
    assert page.count('<summary>/home/me/src/add.py</summary>\n<pre tabindex="0"><code>def add(a, b):') == 2
    assert '<pre tabindex="0"><code>The text of it.</code></pre>' in page


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_a_page_without_the_contents_still_lists_the_files(name: FormatName) -> None:
    page = export_format(name).render(with_files())
    assert "/home/me/letter.docx · 10 bytes" in page
    assert "The text of it." not in page


def test_a_content_that_several_messages_name_is_shown_once() -> None:
    asked = [question("One?", named("/a.txt", OLD)), question("Two?", named("/b.txt", OLD, "known"))]
    page = export_format("markdown").render(conversation_of(asked), CONTENTS)
    assert page.count("return a - b") == 1
    assert page.count("/b.txt · 34 bytes · sent before\n") == 1


@settings(max_examples=50, deadline=None)
@given(text=st.lists(PIECES).map("".join), path=st.lists(PIECES).map("".join))
def test_no_text_and_no_path_of_a_file_is_taken_for_the_page(text: str, path: str) -> None:
    data = text.encode()
    chat = [question("Q", named(path, data)), {"role": "assistant", "content": "A"}]
    page = export_format("markdown").render(conversation_of(chat, title="T"), {hash_of(data): data})
    tokens = MarkdownIt("commonmark").parse(page.split("---\n", 2)[2])
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    (code,) = [token.content for token in tokens if token.type == "fence"]
    assert headings == ["T", "Question 1", "Answer 1"]
    whole = text if text.endswith("\n") else f"{text}\n"
    assert code == re.sub(r"\r\n?", "\n", whole).replace("\0", "\ufffd")
    page = export_format("html").render(conversation_of(chat), {hash_of(data): data})
    assert page.count("<section") == page.count("</section>") == 2
    assert page.count("<details>") == page.count("</details>") == 1


def test_json_has_the_contents_that_are_named_as_text_or_base64() -> None:
    data = json.loads(exported("json"))
    given_back = {
        name: each["text"].encode() if "text" in each else b64decode(each["base64"])
        for name, each in data["fileContents"].items()
    }
    assert given_back == CONTENTS
    assert data["fileContents"][hash_of(OLD)] == {"text": OLD.decode()}
    assert "base64" in data["fileContents"][hash_of(PICTURE)]
    assert list(data)[-1] == "messages"


def test_json_of_a_conversation_without_contents_is_the_file_itself() -> None:
    assert "fileContents" not in json.loads(export_format("json").render(with_files()))


def test_lines_of_messages_have_no_files() -> None:
    assert json.loads(exported("jsonl")) == {
        "messages": [{"role": said["role"], "content": said["content"]} for said in MESSAGES]
    }


def test_redaction_cleans_texts_and_paths_and_leaves_out_what_is_no_text() -> None:
    text = f"key = {KEY}\nhome = /home/me/src\n".encode()
    asked = [question("Q", named(PATH, text, reason=f"like {KEY}"), named("/w.docx", WORD, text=hash_of(WORD_TEXT)))]
    turn = {"question": "P", "status": "failed", "files": [named(PATH, text)]}
    given_contents = {hash_of(text): text, hash_of(WORD): WORD, hash_of(WORD_TEXT): WORD_TEXT}
    conversation, contents = redacted(conversation_of(asked, pendingTurn=turn), given_contents)
    clean = b"key = [key]\nhome = [path]\n"
    assert set(contents.values()) == {clean, WORD_TEXT}
    assert all(hash_of(data) == name for name, data in contents.items())
    assert set(contents_named_in(conversation)) == {*contents, hash_of(WORD)}
    for question_of in (conversation.messages[0], conversation.pending_turn):
        assert question_of is not None
        assert question_of.files is not None
        file = question_of.files[0]
        assert (file.path, file.sha256, file.bytes) == ("[path]", hash_of(clean), len(clean))
    for name in ("markdown", "html", "json", "jsonl"):
        page = export_format(name).render(conversation, contents)
        assert not any(secret in page for secret in (KEY, "/home/me", hash_of(text)))


def test_a_page_for_reading_names_a_dozen_files_and_counts_the_rest() -> None:
    files = [named(f"/src/{number}.py", NEW) for number in range(SHOWN_FILES + 3)]
    page = markdown(conversation_of([question("All?", *files)]))
    assert page.count("- /src/") == SHOWN_FILES
    assert "- and 3 more\n" in page
    assert markdown(conversation_of([question("All?", *files[:SHOWN_FILES])])).endswith(
        f"/src/{SHOWN_FILES - 1}.py · 44 bytes · sent whole\n"
    )
