"""Background tasks of the open session: found, told of, commanded."""
