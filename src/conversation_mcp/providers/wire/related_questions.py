"""The separation of the related questions at the end of an answer."""

import re

EMPHASIS = r"[ \t]*(?:\*\*|__)?[ \t]*"
HEADING = re.compile(
    rf"[ \t]*(?:#{{1,6}}[ \t]*)?{EMPHASIS}(?:\d+[.)][ \t]*)?related questions[ \t]*:?{EMPHASIS}:?[ \t]*(?P<rest>.*)",
    re.IGNORECASE,
)
BULLET = re.compile(r"[ \t]*(?:>[ \t]*)?(?:[-*+\u2022\u2013\u2014\u2023\u00b7][ \t]+|\(?\d{1,2}[.)\u3001][ \t]*)")
RULE = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}")
CITATIONS = re.compile(r"(?:[ \t]*\[(?:web:)?\d+\])+\Z")
QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")
MAX_QUESTIONS = 10


def split_related(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the answer without its last section of related questions, and the questions.

    Text behind the section stays in the answer; a heading without questions is not a section.
    """
    lines = text.splitlines()
    for start in range(len(lines) - 1, -1, -1):
        found = HEADING.fullmatch(lines[start])
        if found is None:
            continue
        questions = _inline(found["rest"])
        end = start + 1
        if found["rest"] and not questions:
            continue
        while end < len(lines) and (not lines[end].strip() or RULE.fullmatch(lines[end]) or _question(lines[end])):
            questions += [question for question in [_question(lines[end])] if question]
            end += 1
        if questions:
            before = _without_rule(lines[:start])
            after = ["", *lines[end:]] if end < len(lines) else []
            return "\n".join([*before, *after]).strip("\n"), tuple(questions[:MAX_QUESTIONS])
    return text, ()


def _question(line: str) -> str:
    bullet = BULLET.match(line)
    question = line[bullet.end() if bullet else 0 :].strip()
    question = CITATIONS.sub("", question).strip("*_ \t").strip('"\u201c\u201d').strip()
    question = CITATIONS.sub("", question)
    return question if bullet or question.endswith(QUESTION_MARKS) else ""


def _inline(rest: str) -> list[str]:
    parts = re.split(r"(?<=[?\uff1f\u061f])\s+", rest.strip())
    questions = [_question(part) for part in parts if part]
    return questions if all(question.endswith(QUESTION_MARKS) for question in questions) else []


def _without_rule(lines: list[str]) -> list[str]:
    """Drop the blank lines and the ruler that set the section off."""
    while lines and (not lines[-1].strip() or RULE.fullmatch(lines[-1])):
        lines = lines[:-1]
    return lines
