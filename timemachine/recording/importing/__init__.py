"""Other people's formats: each importer is one pure file that turns bytes into sessions and a report."""
