"""Pages of collections, frames and uploads."""
