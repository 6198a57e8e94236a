"""Where jobs run: each engine implements the same protocol of the job master."""
