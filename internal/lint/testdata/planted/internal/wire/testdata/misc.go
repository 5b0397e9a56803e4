package broken // TODO: test data is not read
