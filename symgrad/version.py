"""The version of symgrad, said here alone."""

VERSION = "0.1.0"
