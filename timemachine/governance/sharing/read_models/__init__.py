"""What a share link shows: frozen dataclasses, each built from fields that are named here, and redacted while
they are built.

Pages, presenters and templates under /share/ read these and never a database model. A new column stays
invisible until it is added to one of them; `decisions.py` lists every field as shown or not shown, and a test
fails for one that is in neither list.
"""
