"""How well the results agree with what is known of the data."""
