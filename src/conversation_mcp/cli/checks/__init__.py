"""What `doctor` and `verify` look at, each thing as a finding."""
