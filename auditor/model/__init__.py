"""The ground floor: schema, taxonomy, domains and labels, tables, releases, provenance, knowledge, records, errors."""
