"""Pages of replays, sweeps and suites."""
