"""Pages: sessions."""
