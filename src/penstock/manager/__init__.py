"""The manager: a daemon that starts, watches and shows jobs, each of which has a driver process of its own."""
