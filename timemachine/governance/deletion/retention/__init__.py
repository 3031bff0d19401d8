"""Forgetting: sessions deleted in bulk, by people and by retention rules, and legal holds, which nothing gets past."""
