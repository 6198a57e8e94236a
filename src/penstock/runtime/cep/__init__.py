"""Complex event processing as a library: pattern model, compiler, automaton, shared buffer. No Spark, no I/O."""
