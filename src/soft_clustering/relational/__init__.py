"""The relational family: objects that are known by their dissimilarities."""
