"""What a session can be exported as, a file each. Each has `NAME`, `TITLE`, `ENDING`, `MEDIA_TYPE` and `parts(session)`. Pure."""
