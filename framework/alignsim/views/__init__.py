"""What people read: tables and diagrams as plain data, made of answers, catalogues and reports."""
