"""Files and locks: durable writes, private modes, no links followed, errors in the words of users. All of it blocks."""
