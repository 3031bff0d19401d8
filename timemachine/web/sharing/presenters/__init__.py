"""What pages of share links show, in words."""
