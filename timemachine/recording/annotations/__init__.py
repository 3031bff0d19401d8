"""What people and programs add to steps after recording: significance and notes. The record does not change."""
