"""A small project written for newcomers: made with one click, gone with one."""
