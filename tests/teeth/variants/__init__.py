"""Conforming variants: implementations that the sources allow. A law that alarms at one of them is wrong."""
