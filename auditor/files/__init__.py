"""Files: tables, releases and provenance, read and written in every format there is."""
