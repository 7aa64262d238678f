"""Generated conversations, the same for the same seed: 2 to 40 messages, in many scripts, as files.

Words are drawn as people use them: few often, most rarely. A tenth of the texts is in each of nine languages that
need not be English; code identifiers, paths and versions stand in between.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random

from conversation_mcp.records.ids import EPOCH, id_at

FIRST_MILLISECONDS = 1_700_000_000_000
STEP_MILLISECONDS = 97_001
MOST_TURNS = 20
GOES_ON = 0.72
QUESTION_WORDS = (3, 14)
ANSWER_WORDS = (12, 60)
PARAGRAPH_WORDS = (40, 120)
MOST_PARAGRAPHS = 7
VOCABULARY = 6_000
CODE = ("getUserName", "snake_case_name", "os.path.join", "src/app/main.py", "HTTPServer", "v1.2.3", "read_file")
SYLLABLES = {
    "en": "ba ne ti lor den ra mi con ter pro sa vi el um ing er tion al",
    "de": "ver ge schl ung heit ä bö kü stra ße ben auf ein er en",
    "fr": "é tu de rè gle ça eau ment con pré ois le ri que",
    "vi": "nguyễn tiếng việt đường bạn ở là những được",
    "ru": "про вод ник ста ние тель ра бо ко",
    "ar": "كتاب مدر سة لغة عربي من ال",
    "hi": "हि न्दी भा षा का र्य पु स्त क",
    "zh": "会 话 历 史 保 存 数 据 库 索 引 搜 查 询 结 果",
    "ja": "か な 漢 字 検 索 会 話 保 存 ファ イル",
    "th": "การ ติด ตั้ง โปรแกรม วิธี ใช้ ภาษา ไทย",
}
UNSPACED = frozenset({"zh", "ja", "th"})


class Corpus:
    """Conversations, one after the other; each has the next millisecond's worth of ids."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._words = {language: self._vocabulary(parts.split()) for language, parts in SYLLABLES.items()}
        self._weights = list(accumulate(1 / (rank + 5) for rank in range(VOCABULARY)))

    def write(self, root: Path, count: int) -> None:
        """Write so many conversations into the folder, without waiting for the disk."""
        root.mkdir(parents=True, exist_ok=True)
        for conversation_id, data in self.conversations(count):
            folder = root / conversation_id
            folder.mkdir()
            (folder / "conversation.json").write_bytes(data)

    def conversations(self, count: int) -> Iterator[tuple[str, bytes]]:
        """Yield ids and the bytes of files."""
        for number in range(count):
            yield self._conversation(FIRST_MILLISECONDS + number * STEP_MILLISECONDS)

    def texts(self, count: int) -> Iterator[list[str]]:
        """Yield texts that make up so many documents."""
        for _ in range(count):
            language = "en" if self._random.random() < 0.4 else self._random.choice(list(SYLLABLES))
            yield [self._text(language, PARAGRAPH_WORDS) for _ in range(self._random.randint(1, MOST_PARAGRAPHS))]

    def _conversation(self, milliseconds: int) -> tuple[str, bytes]:
        conversation_id, random = id_at(milliseconds), self._random
        at = f"{EPOCH.fromtimestamp(milliseconds / 1000, EPOCH.tzinfo):%Y-%m-%dT%H:%M:%S}.000Z"
        language = "en" if random.random() < 0.4 else random.choice(list(SYLLABLES))
        messages = list(self._turn(language, at))
        while random.random() < GOES_ON and len(messages) < 2 * MOST_TURNS:
            messages += self._turn(language, at)
        data = {
            "conversationId": conversation_id,
            "createdAt": at,
            "updatedAt": at,
            "messageCount": len(messages),
            "messages": messages,
        }
        return conversation_id, json.dumps(data, indent=2, ensure_ascii=False).encode() + b"\n"

    def _turn(self, language: str, at: str) -> Iterator[dict[str, object]]:
        random = self._random
        yield {"role": "user", "content": self._text(language, QUESTION_WORDS) + "?", "createdAt": at, "tool": "search"}
        yield {
            "role": "assistant",
            "content": self._text(language, ANSWER_WORDS) + " [1].",
            "createdAt": at,
            "provider": "perplexity",
            "model": "openai/gpt-6-luna",
            "usage": {"inputTokens": 4000, "outputTokens": 300, "costUsd": random.randrange(100) / 10_000},
        }

    def _text(self, language: str, words: tuple[int, int]) -> str:
        random = self._random
        chosen = random.choices(self._words[language], cum_weights=self._weights, k=random.randint(*words))
        if random.random() < 0.1:
            chosen.insert(0, random.choice(CODE))
        return ("" if language in UNSPACED else " ").join(chosen)

    def _vocabulary(self, syllables: Sequence[str]) -> list[str]:
        return ["".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(VOCABULARY)]
