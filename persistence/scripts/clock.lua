#!lua flags=no-writes
-- KEYS  1 meta (so that a cluster knows where to ask)
-- ARGV  1 now
-- Reply ms

return text(clock())
