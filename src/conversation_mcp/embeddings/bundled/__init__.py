"""The model that is installed with the extra `semantic`: all-MiniLM-L6-v2, for English."""
