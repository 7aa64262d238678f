"""Encryption at rest: master keys, the cipher, and the form of what is sealed. It knows no folders and no records.

AES-256-GCM with a fresh nonce for each sealing. What a text is and whose it is are bound to it as associated data, so
that a sealed text cannot be put in the place of another. `cryptography` is imported with the first sealing or opening.
"""
