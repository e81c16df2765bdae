"""Tools for pages that people read: HTML files and Markdown."""
