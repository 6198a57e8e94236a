"""What user code and the runtime share: function classes, state interfaces, windows and their parts."""
