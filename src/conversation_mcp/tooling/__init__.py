"""What the tools share: arguments, schema, rendering, fitting, and how errors and hints name the next step."""
