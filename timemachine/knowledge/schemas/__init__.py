"""Collections, frames and findings as the API takes and returns them."""
