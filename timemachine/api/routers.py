"""Routers that several files add to: one path belongs to one router, whatever its methods."""

from ninja import Router

sessions = Router(tags=["sessions"])
