"""The record: everything a report may see, the policy that judges it, and its JSON."""
