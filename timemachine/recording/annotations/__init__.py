"""What people and programs said about steps after they were recorded; kept beside the record."""
