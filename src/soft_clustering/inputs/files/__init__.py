"""Files of the user: graphs, communities, texts, images, distances and tables. No file is unpickled."""
