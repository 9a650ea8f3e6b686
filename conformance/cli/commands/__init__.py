"""The commands, one module each; ``cli.COMMANDS`` lists them."""
