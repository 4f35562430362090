"""What the alternating estimators share: blocks of rows, starts, the loop, acceleration."""
