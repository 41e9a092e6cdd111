"""Reading and writing of session logs."""
