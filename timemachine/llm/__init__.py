"""Model providers: which models there are, what they cost, and calling them. The only package that imports a price list."""
