"""Two runs compared step by step: sessions and replays, aligned by what their steps are."""
