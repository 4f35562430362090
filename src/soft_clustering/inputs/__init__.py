"""What the user has, validated and made canonical; the error messages live here."""
