"""Files of the user: each reader returns what the estimators of its kind of data take. No file is unpickled."""
