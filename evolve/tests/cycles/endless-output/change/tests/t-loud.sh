yes "a line that nobody reads"
