"""How fast a fit or a pass is, beside other packages and the older one of our name."""
