"""Two ontologies compared: what has changed, and what that breaks."""
