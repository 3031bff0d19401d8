"""Record what agent frameworks do, through what each offers. A module imports its framework, so import only the one you use."""
