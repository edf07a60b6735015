"""The pages' examples are run; what the site makes of the code is not."""

collect_ignore = ["conf.py", "site_pages.py", "api", "gallery", "textbook.md", "_build"]
