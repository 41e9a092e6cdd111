"""Pure folds from events to what people read."""
