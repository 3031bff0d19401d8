"""What a session can be exported as, a file each. Each has `NAME`, `TITLE`, `ENDING`, `MEDIA_TYPE` and `write(target, session)`. Pure."""
