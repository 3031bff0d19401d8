"""Framework-free parts of `importing`: formats, exports, and the reading of files."""
