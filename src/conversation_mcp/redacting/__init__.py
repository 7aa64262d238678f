"""What should not be passed on, recognized in texts by the patterns in patterns.toml: keys, cards, addresses."""
