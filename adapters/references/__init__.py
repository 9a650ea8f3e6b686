"""Reference runtimes: each machine run for real, small enough to read."""
