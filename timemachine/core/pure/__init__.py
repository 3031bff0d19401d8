"""Framework-free basics: errors, bytes and hashes, time, ids, text. No domain words, no Django."""
