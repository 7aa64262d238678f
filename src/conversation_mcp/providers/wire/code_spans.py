"""The pattern of code in Markdown, whose content is quoted and not meant."""

CODE = r"""
    (?P<code>
        ^\ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?(?:^\ {0,3}(?P=fence)[`~]*[ ]*$|\Z)|\Z)
        | (?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).){1,1000}?(?<!`)(?P=ticks)(?!`)
    )
"""
"""A fenced block or a span in backticks, for a verbose pattern with MULTILINE and DOTALL."""
