"""Tests of integrations with the real frameworks."""
