"""Many tables by one operation."""

from django.db.migrations.operations.base import Operation, OperationCategory


class CreateModels(Operation):
    """Create the tables of all these `CreateModel` operations, which may refer to each other in any order.

    One by one they would have to come in an order in which each refers to earlier ones only, and each would have Django render anew
    every model that is related to it, which here is nearly all. This way they are rendered once.
    """

    category = OperationCategory.ADDITION
    reduces_to_sql = True

    def __init__(self, tables):
        self.tables = tables

    def deconstruct(self):
        return (self.__class__.__qualname__, [self.tables], {})

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)
        for table in self.tables:
            table.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for table in self.tables:
            table.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for table in reversed(self.tables):
            table.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self):
        return f"Create {len(self.tables)} tables"
