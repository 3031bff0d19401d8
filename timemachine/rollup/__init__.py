"""What is counted as it is recorded: the database keeps it beside the actions, so that no page counts them again."""
