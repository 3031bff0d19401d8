"""The export formats, one module each, with `NAME`, `TITLE`, `ENDING`, `MEDIA_TYPE` and `parts(session)`."""
