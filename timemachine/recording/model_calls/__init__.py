"""The requests that recorded model calls sent, and their answers, in a form that any model can be given."""
