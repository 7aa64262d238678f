"""Who may enter a server over HTTP: tokens of this program in a file, and tokens that an identity provider signs.

`tokens.py` says what a token is, `token_file.py` keeps them, `live_tokens.py` follows the file while a server runs.
`jwts.py` checks signed tokens with the keys of `key_sets.py`. `attempts.py` counts those who try.
"""
