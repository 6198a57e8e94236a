"""The pieces of which the Table API's Expression is made, one group of methods each."""
