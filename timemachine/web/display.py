"""How values look on a page: template filters and tags."""

from django import template

register = template.Library()
