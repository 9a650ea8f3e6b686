"""Reports: renderings of the one result object, for CI systems and for people."""
