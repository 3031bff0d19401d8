"""A project's transparency log: keys, signed states, witnesses and timestamps."""
