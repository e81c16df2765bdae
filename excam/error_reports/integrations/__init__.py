"""ExCAM in evaluation libraries. Each module needs its library; nothing else imports it."""
