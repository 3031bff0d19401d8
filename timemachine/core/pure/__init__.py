"""What every room stands on: errors, bytes and hashes, time, ids. No domain words, no Django."""
