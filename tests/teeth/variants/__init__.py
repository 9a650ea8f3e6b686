"""Conforming variants: what the sources allow, each in another way. A law that alarms at one of them is wrong."""
