return noted_since(calls, ARGV[3], tonumber(ARGV[4]))
